"""The ground: memory, threads, and where in the code something happens."""
