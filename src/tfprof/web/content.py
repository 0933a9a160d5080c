"""What the server sends: the page, its data and the answers to its questions."""

from __future__ import annotations

from tfprof.api import Profile
from tfprof.options import Options
from tfprof.page.answer import answer
from tfprof.page.document import Served, packed


def document(profile: Profile) -> Served:
    """The page without its data."""
    return profile.report().served()


def data(profile: Profile) -> bytes:
    """The data of the page."""
    return profile.report().data()


def graph(profile: Profile) -> bytes:
    """The data of the drawn graph, which the page asks for when it shows it."""
    return profile.report().graph()


def view(profile: Profile, kind: str, options: Options) -> bytes:
    """One view, with any options."""
    return packed(answer(profile.view(kind, options).view, profile.columns), quick=True)
