from typing import Final

import numpy as np

strong_multiply: Final[np.ufunc]
strong_multiply_both: Final[np.ufunc]
strong_divide: Final[np.ufunc]
smooth: Final[np.ufunc]
slope: Final[np.ufunc]
mask: Final[np.ufunc]
select: Final[np.ufunc]
sech_squared: Final[np.ufunc]
logistic: Final[np.ufunc]
sqrt_one_minus_square: Final[np.ufunc]
powlog1: Final[np.ufunc]
powlog2: Final[np.ufunc]
powlog3: Final[np.ufunc]
x_over_hypot: Final[np.ufunc]
real: Final[np.ufunc]
imag: Final[np.ufunc]
compose: Final[np.ufunc]
