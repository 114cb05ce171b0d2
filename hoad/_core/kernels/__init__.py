"""Functions of numbers and rows of numbers, in C."""
