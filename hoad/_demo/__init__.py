"""`hoad demo`: nonlinear regression on NIST's certified data sets, with exact derivatives of NumPy models."""
