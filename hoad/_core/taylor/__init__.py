"""Taylor arithmetic of programs."""
