"""Trees of numbers: a view is a function of a profile and options."""
