"""Scalar functions of doubles; all of them are for compiled code."""
