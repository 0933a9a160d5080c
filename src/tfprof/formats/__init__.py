"""File formats: decode bytes into records and encode them; independent of profiles."""
