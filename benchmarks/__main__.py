"""`python -m benchmarks` from the root of the repository is `python benchmarks/run.py`."""

import sys
from pathlib import Path

# The files of this folder run alone too, and find each other as neighbours. Here they take the place of the root,
# where the source folder would hide the installed package.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import main

sys.exit(main())
