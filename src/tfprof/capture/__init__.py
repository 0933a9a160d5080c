"""Taking profiles from a running program: the only place that imports a framework."""
