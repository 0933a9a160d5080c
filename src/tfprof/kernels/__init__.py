"""Loops over bytes and rows that numpy has no function for; compiled if there is a compiler."""
