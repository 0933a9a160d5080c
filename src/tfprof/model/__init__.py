"""What a profile is: columns of ops, runs, memory, code, tensors and devices; no files, no text."""
