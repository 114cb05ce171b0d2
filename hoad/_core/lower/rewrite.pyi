"""What the passes over the steps of a program share."""
