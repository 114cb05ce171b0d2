"""What is known of operands, and of the results of operations on them."""
