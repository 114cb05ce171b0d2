"""What an operation is without a new node, or in simpler operations."""
