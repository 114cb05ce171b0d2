"""`hoad demo`: nonlinear regression on NIST's certified data sets, with exact derivatives of NumPy models.

From the data to the page: `datasets` and `models` say what is fitted, `least_squares` differentiates it with
hoad, `descent` and `refinement` minimise (`fit` joins them), `certified` and `differences` are what `study`
compares with, and `panel`, `report` and `machine` show it.
"""
