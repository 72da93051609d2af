"""What LlamaIndex asks for itself, which answers nobody: nothing in a span tells so, but its callers do.

An evaluator queries an index of what it is to grade, and an index may have a model sum up its documents while
it is built.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.indices.document_summary import DocumentSummaryIndex

_CALLERS: Mapping[str, type] = {"aevaluate": BaseEvaluator, "_add_nodes_to_index": DocumentSummaryIndex}


def is_aside() -> bool:
    """Whether an evaluator, or an index that is being built, has made the call that goes on."""
    frame = inspect.currentframe()
    while frame is not None:  # who awaits a coroutine stands there, too
        caller = _CALLERS.get(frame.f_code.co_name)
        if caller is not None and isinstance(frame.f_locals.get("self"), caller):
            return True
        frame = frame.f_back
    return False
