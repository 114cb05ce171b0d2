"""Which nodes depend on some nodes, and which nodes some need."""
