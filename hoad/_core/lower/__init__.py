"""From a stretch of a graph to a program that runs: a small compiler."""
