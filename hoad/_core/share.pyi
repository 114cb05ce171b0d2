"""Shared work done once."""
