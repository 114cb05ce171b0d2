"""Views of traced arrays, and writes to them: which array sees what."""
