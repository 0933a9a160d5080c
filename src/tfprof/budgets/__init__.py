"""Budgets of a model: read, measured, judged, reported and updated."""
