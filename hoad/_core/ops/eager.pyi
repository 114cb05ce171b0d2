"""Computing what is recorded, at once: the values of one node from those of its operands."""
