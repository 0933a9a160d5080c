"""What could be better about a model: checkers look at a profile and give findings."""
