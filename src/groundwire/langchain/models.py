"""Chat models by name, for the demo, the command line and whoever writes a model into a settings file."""

from __future__ import annotations

from groundwire.judge.adapters.named import from_string

__all__ = ["from_string"]
