"""The fixture of tests that run modules of the page with Node.js."""

from __future__ import annotations

from page_script import node

__all__ = ["node"]
