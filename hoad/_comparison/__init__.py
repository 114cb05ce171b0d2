"""Whether a function computes, on traced values, what it computes on plain ones."""
