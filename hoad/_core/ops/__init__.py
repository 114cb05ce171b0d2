"""How one operation is evaluated."""
