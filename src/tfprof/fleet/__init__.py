"""Collecting the files of many hosts and steps in a store."""
