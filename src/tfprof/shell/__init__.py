"""Many questions to one profile, line by line."""
