"""Ways out: each writes a view in one form and works nothing out."""
