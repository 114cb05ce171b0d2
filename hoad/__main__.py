"""`python -m hoad`."""

import sys

from hoad.cli import main

if __name__ == "__main__":
    sys.exit(main())
