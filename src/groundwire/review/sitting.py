"""Sittings."""


class Sittings:
    """Nothing yet."""
