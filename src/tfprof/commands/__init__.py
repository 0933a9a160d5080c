"""Registry of commands, shared by the command line, the shell and help, and their functions."""
