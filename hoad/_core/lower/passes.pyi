"""The passes over the steps of a program that is run again and again."""
