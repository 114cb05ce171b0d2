"""What a recording took out as numbers, as a replay rounds it."""
