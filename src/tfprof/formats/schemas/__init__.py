"""Minimal .proto files of our own, and the descriptor set compiled from them."""
