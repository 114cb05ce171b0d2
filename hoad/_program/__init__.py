"""Programs: lists of sealed tapes, how they are recorded, evaluated, pickled and called from C."""
