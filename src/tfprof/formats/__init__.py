"""Bytes to records and back; knows files, not profiles."""
