"""Functions of SciPy on traced values. Nothing here is imported before one of them is asked for."""
