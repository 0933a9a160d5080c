"""Which framework a profile is of, because advice differs."""

from __future__ import annotations

from tfprof.model.profile import ProfileColumns


def is_of_pytorch(profile: ProfileColumns) -> bool:
    """Whether a PyTorch program was recorded."""
    return "pytorch" in profile.recordings.framework
