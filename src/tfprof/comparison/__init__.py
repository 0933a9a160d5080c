"""Two profiles compared: which rows correspond, what changed, and whether times differ."""
