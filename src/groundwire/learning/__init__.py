"""What production teaches: a tuned checker, examples for a judge, and labels shared with LangSmith.

Nothing here changes what is in production unless it is told to, and nothing leaves this machine unless it is
sent. Needs ``groundwire[monitor]``; tuning also ``groundwire[bench]``, LangSmith ``groundwire[langchain]``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundwire.learning.proposal import Proposal as Proposal
    from groundwire.learning.proposal import propose as propose
    from groundwire.learning.pulling import ExchangeError as ExchangeError
    from groundwire.learning.pulling import Pulled as Pulled
    from groundwire.learning.pulling import pull as pull
    from groundwire.learning.pushing import Push as Push
    from groundwire.learning.pushing import Pushed as Pushed
    from groundwire.learning.pushing import plan_push as plan_push
    from groundwire.learning.retuning import Retuned as Retuned
    from groundwire.learning.retuning import retune as retune
    from groundwire.learning.showing import reviewed_examples as reviewed_examples
    from groundwire.learning.showing import save_examples as save_examples

_HOMES = {
    "groundwire.learning.proposal": ("Proposal", "propose"),
    "groundwire.learning.pulling": ("ExchangeError", "Pulled", "pull"),
    "groundwire.learning.pushing": ("Push", "Pushed", "plan_push"),
    "groundwire.learning.retuning": ("Retuned", "retune"),
    "groundwire.learning.showing": ("reviewed_examples", "save_examples"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ExchangeError",
    "Proposal",
    "Pulled",
    "Push",
    "Pushed",
    "Retuned",
    "plan_push",
    "propose",
    "pull",
    "retune",
    "reviewed_examples",
    "save_examples",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
