"""Every word said to a model, once: prompt files with a name and a version, and how replies are read.

No model, no detector and no framework is known here.
"""

from __future__ import annotations

from groundwire.prompts.catalogue import Prompt, get, names

__all__ = ["Prompt", "get", "names"]
