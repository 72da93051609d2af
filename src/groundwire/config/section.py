"""What every part of the settings is made of: sections that know their keys, and numbers that are numbers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """A part of the settings: what it does not know is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _no_switch(value: Any) -> Any:
    # YAML reads a bare yes as true, which pydantic would take for 1: a threshold that nothing reaches.
    if isinstance(value, bool):
        raise PydanticCustomError("number", "expected a number")
    return value


Number = Annotated[float, BeforeValidator(_no_switch)]
Whole = Annotated[int, BeforeValidator(_no_switch)]
Seconds = Annotated[Number, Field(gt=0, allow_inf_nan=False)]
Fraction = Annotated[Number, Field(ge=0, le=1, allow_inf_nan=False)]
