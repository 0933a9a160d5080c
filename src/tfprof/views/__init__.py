"""The views: functions from a profile and options to a tree of rows with numbers."""
