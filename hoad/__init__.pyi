from hoad import check as check
from hoad import errors as errors
from hoad import implicit as implicit
from hoad import interop as interop
from hoad import ode as ode
from hoad import rules as rules
from hoad import scipy as scipy
from hoad._public import *  # noqa: F403
from hoad._public import __all__ as __all__

__version__: str
