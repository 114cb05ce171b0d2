"""Functions recorded once and replayed."""
