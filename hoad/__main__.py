"""`python -m hoad`."""

import sys

from hoad._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
