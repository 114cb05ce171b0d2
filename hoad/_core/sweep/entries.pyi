"""The entries of the matrix that a linear sweep over numbers is."""
