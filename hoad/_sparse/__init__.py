"""Sparse derivatives: which columns and rows are computed together, and how entries are read from the products."""
