"""Running derivatives and sealed tapes, as the Python layers handle them."""
