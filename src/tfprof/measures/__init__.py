"""Numbers computed from a profile: pure functions over its columns."""
