"""Containers, the arguments of functions, and the vectors that optimisers want."""
