"""The loops over bytes and rows that numpy has no call for, compiled where there is a compiler."""
