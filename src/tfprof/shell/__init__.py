"""The interactive shell: answers many questions about one profile, line by line."""
