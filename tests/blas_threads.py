"""NumPy's and SciPy's linear algebra on one thread, if this is imported first.

Tests run on all cores already, and their matrices are small, so that threads would wait for one another. OpenBLAS reads
its variable once; hoad, which would take it for a limit of its own, must not find it afterwards.
"""

from __future__ import annotations

import contextlib
import os

VARIABLE = "OPENBLAS_NUM_THREADS"

if VARIABLE not in os.environ:
    os.environ[VARIABLE] = "1"
    try:
        import numpy as np  # noqa: F401

        with contextlib.suppress(ImportError):
            import scipy.linalg  # noqa: F401
    finally:
        del os.environ[VARIABLE]
