"""The primitives: how they are declared, and what is known of each."""
