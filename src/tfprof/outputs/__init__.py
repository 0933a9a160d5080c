"""Output formats: each module encodes a view in one format and computes nothing."""
