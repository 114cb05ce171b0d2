"""Optimisers and root finders of other packages, given the derivatives that they ask for."""
