"""Sources: for each kind of input file, how its content is added to a profile."""
