"""Tables of any size, judged in units that are done once: on this machine's cores, or on a Ray cluster.

What runs units knows nothing of judging, and what judges a unit nothing of who runs it.
"""

from __future__ import annotations

from groundwire.batch.batch import Batch as Batch
from groundwire.batch.local import Local as Local
from groundwire.batch.on_ray import Ray as Ray
from groundwire.batch.on_ray import StarvedError as StarvedError
from groundwire.batch.scorer import Scorer as Scorer
from groundwire.batch.summary import Summary as Summary

__all__ = ["Batch", "Local", "Ray", "Scorer", "StarvedError", "Summary"]
