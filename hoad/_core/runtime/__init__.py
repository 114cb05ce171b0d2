"""Running lowered programs, without Python and without the GIL."""
