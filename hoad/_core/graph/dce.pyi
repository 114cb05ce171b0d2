"""Dropping what no output of a new tape needs; all of it is for compiled code."""
