"""Products of slopes of absolute values."""
