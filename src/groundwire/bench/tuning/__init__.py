"""Thresholds, levels, calibration and combinations fitted to labelled answers, and what they are worth.

``tune``, ``stack`` and ``tune_cascade`` take what ``bench.runs.judge`` gives; what comes out is a value and
a file that a Checker reads. Nothing here judges or asks a model, nor is it needed to use what was fitted.
"""

from groundwire.bench.tuning.cascading import stages as stages
from groundwire.bench.tuning.cascading import tune_cascade as tune_cascade
from groundwire.bench.tuning.errors import TuningError as TuningError
from groundwire.bench.tuning.fitted import Tuning as Tuning
from groundwire.bench.tuning.fitted import stack as stack
from groundwire.bench.tuning.fitted import tune as tune
from groundwire.bench.tuning.inputs import require_labels as require_labels
from groundwire.bench.tuning.inputs import require_options as require_options
from groundwire.bench.tuning.targets import Target as Target

__all__ = [
    "Target",
    "Tuning",
    "TuningError",
    "require_labels",
    "require_options",
    "stack",
    "stages",
    "tune",
    "tune_cascade",
]
