"""From steps on single numbers to chains of rows."""
