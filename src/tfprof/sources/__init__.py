"""What each kind of input means: from records of a format to a profile."""
