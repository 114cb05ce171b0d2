"""The storage under every tape, and what reads it, cuts it and writes it down."""
