"""The server of `tfprof ui`: one page on this machine, and the answers to its questions."""
