"""Sparse derivatives: patterns, colorings, and the entries of Jacobians and Hessians."""
