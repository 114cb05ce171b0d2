"""Where a value is 0 whatever the inputs are."""
