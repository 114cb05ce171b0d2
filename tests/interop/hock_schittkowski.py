"""Test problems of Hock and Schittkowski, by the numbers in their book, with the optima that it publishes.

W. Hock and K. Schittkowski, Test Examples for Nonlinear Programming Codes, Lecture Notes in Economics and Mathematical
Systems 187 (Springer, 1981). Optima that the book has in closed form are computed; the others have its digits. For 106
and 112 the book has slightly too large values: the optima are those of K. Schittkowski's later collections.
"""

from __future__ import annotations

from interop.of_four_and_five import OF_FIVE, OF_FOUR
from interop.of_six_and_more import OF_SIX_AND_MORE
from interop.of_two_and_three import OF_THREE, OF_TWO

PROBLEMS = sorted([*OF_TWO, *OF_THREE, *OF_FOUR, *OF_FIVE, *OF_SIX_AND_MORE])
