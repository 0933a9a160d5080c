"""Generates the page of models of the manual: `make models`."""
