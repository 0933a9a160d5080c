"""The data model: a profile as columns of ops, runs, memory, code, tensors and devices."""
