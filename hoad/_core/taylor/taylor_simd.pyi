"""Steps of a series that are done at once: like ones that do not ask for each other."""
