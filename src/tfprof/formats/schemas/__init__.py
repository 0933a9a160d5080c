"""Our own minimal .proto files and, compiled, their descriptor set."""
