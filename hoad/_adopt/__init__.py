"""Code that never heard of traced values, run with functions that take them."""
