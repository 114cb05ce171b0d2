"""Tape to tape: what makes new tapes of recorded ones."""
