"""The hallucination score: 0 is fully grounded, 1 is hallucinated. One direction everywhere."""

from __future__ import annotations

from numbers import Real
from typing import TypeGuard


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a real number of any library's; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_score(name: str, value: float) -> float:
    """The value as a plain float. Raises ValueError unless it is a number in [0, 1]; NaN is refused."""
    if not is_number(value) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be a number in [0, 1], not {value!r}")
    return float(value)


def score_problems(**scores: float | None) -> list[str]:
    """What is wrong with scores, by their names; None is left out."""
    problems = []
    for name, value in scores.items():
        try:
            if value is not None:
                check_score(name, value)
        except ValueError as error:
            problems.append(str(error))
    return problems


def shown(score: float, threshold: float) -> str:
    """The score in two digits, or in as many as it takes to stay on its side of the threshold."""
    for digits in range(2, 6):
        text = f"{score:.{digits}f}"
        if (float(text) >= threshold) == (score >= threshold):
            return text
    return repr(score)
