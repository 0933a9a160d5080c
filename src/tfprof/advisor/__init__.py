"""The advisor: checkers examine a profile and report findings that suggest optimisations."""
