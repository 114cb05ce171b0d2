"""Sparse matrices of derivatives: colorings of their patterns, and the entries read back from few products."""
