"""Reverse and forward sweeps: tapes made of tapes by rules."""
