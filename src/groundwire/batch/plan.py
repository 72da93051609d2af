"""The plan of a batch: which files, cut into which units, judged by what. Written once, and kept to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from groundwire.batch.folders import STATE, Folder
from groundwire.batch.places import Source, opened, shown
from groundwire.core.errors import ConfigurationError
from groundwire.tables import Columns, Form, Format, TableError, form, table_of
from groundwire.tables.pieces import Piece, cut, read_piece

PLACE = f"{STATE}/plan.json"
_FORM = 1


@dataclass(frozen=True, kw_only=True)
class Input:
    """A file of the input as it was when the work was planned, and the columns its rows are read by."""

    source: Source
    form: Form
    candidates: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What is done at once: a piece of one of the files. Parts are numbered as units are."""

    number: int
    input: int
    piece: Piece


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Files, units, and ``made_by``: what decides about the outcomes, as JSON.

    What is kept of it has addresses as they are shown; ``bound`` gives them back. ``unit_rows`` is the size
    that was wished for a unit. ``empty`` are files without any row.
    """

    made_by: Mapping[str, Any]
    inputs: tuple[Input, ...]
    units: tuple[Unit, ...]
    unit_rows: int
    empty: tuple[Source, ...] = ()

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of what the outcomes depend on, and of what they are outcomes of."""
        read = [[_kept(one.source), one.form, one.candidates] for one in self.inputs]
        whole = json.dumps([_FORM, self.made_by, read, self.unit_rows], sort_keys=True, default=_plain)
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    @property
    def rows(self) -> int | None:
        """How many rows there are, or at most; None where a file has to be read to its end to tell."""
        counts = [unit.piece.rows for unit in self.units]
        return None if None in counts else sum(count for count in counts if count is not None)

    def to_json(self) -> bytes:
        inputs = [{**asdict(one), "source": _kept(one.source)} for one in self.inputs]
        units = [[unit.input, *asdict(unit.piece).values()] for unit in self.units]
        whole = {
            "groundwire": "batch",
            "form": _FORM,
            "made_by": self.made_by,
            "unit_rows": self.unit_rows,
            "inputs": inputs,
            "empty": [_kept(one) for one in self.empty],
            "units": units,
        }
        return json.dumps(whole).encode()  # in ASCII: a name of a file need not be text

    @classmethod
    def from_json(cls, content: bytes) -> Plan:
        """Raises one of the errors that ``kept`` tells for what ``to_json`` didn't write."""
        data = json.loads(content)
        if data["groundwire"] != "batch" or data["form"] != _FORM:
            raise ValueError(f"a plan of form {data['form']!r}")
        inputs = tuple(
            Input(
                source=Source(**one["source"]),
                form=Form(kind=Format(one["form"]["kind"]), packed=one["form"]["packed"]),
                candidates={kind: tuple(names) for kind, names in one["candidates"].items()},
                columns=one["columns"],
            )
            for one in data["inputs"]
        )
        units = tuple(
            Unit(number=number, input=which, piece=Piece(**dict(zip(_PIECE, values, strict=True))))
            for number, (which, *values) in enumerate(data["units"])
        )
        return cls(
            made_by=data["made_by"],
            inputs=inputs,
            units=units,
            unit_rows=data["unit_rows"],
            empty=tuple(Source(**one) for one in data["empty"]),
        )


def make(
    sources: Iterable[Source],
    *,
    made_by: Mapping[str, Any],
    columns: Columns | None = None,
    kind: Format | None = None,
    unit_rows: int,
) -> Plan:
    """Plan the work. Every file is opened, so that what is wrong with one is told before anything is judged.

    Raises TableError for a file that is no table, lacks a column, or if no file holds any row.
    """
    inputs: list[Input] = []
    units: list[Unit] = []
    empty: list[Source] = []
    for source in sources:
        known = _looked_at(source, columns, kind)
        pieces = _pieces(known, unit_rows) if known else []
        if known is None or not pieces:
            empty.append(source)
            continue
        units += [
            Unit(number=len(units) + nth, input=len(inputs), piece=piece) for nth, piece in enumerate(pieces)
        ]
        inputs.append(known)
    if not units:
        raise TableError(f"{', '.join(one.shown for one in empty[:3])}: nothing to judge: there is no row")
    return Plan(
        made_by=made_by, inputs=tuple(inputs), units=tuple(units), unit_rows=unit_rows, empty=tuple(empty)
    )


def kept(folder: Folder) -> Plan | None:
    """The plan that a folder was begun with; None where there is none.

    Raises ConfigurationError for a folder with other things in it, and for a plan that can't be read.
    """
    try:
        with folder.open(PLACE) as stream:
            return Plan.from_json(stream.read())
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigurationError(
            f"the plan in {shown(folder.name)!r} can't be read ({error}): --overwrite begins anew, or name "
            "another folder"
        ) from error


def differences(plan: Plan, made_by: Mapping[str, Any], sources: Iterable[Source]) -> list[str]:
    """In what a folder's plan is not what is asked for now, in words; none where it is."""
    told = [
        f"its {name} is {_short(plan.made_by.get(name))}, this run's {_short(made_by.get(name))}"
        for name in sorted(plan.made_by)
        if plan.made_by[name] != made_by.get(name)
    ]
    before = {one.shown: one for one in (*(each.source for each in plan.inputs), *plan.empty)}
    after = {one.shown: one for one in sources}
    told += _listed("no longer there", [name for name in before if name not in after])
    told += _listed("new", [name for name in after if name not in before])
    return told + _listed(
        "changed", [name for name in before if name in after and _kept(before[name]) != _kept(after[name])]
    )


def bound(plan: Plan, sources: Iterable[Source]) -> Plan:
    """The plan with its files as they are called now: addresses are kept without what opens them."""
    names = {one.shown: one for one in sources}
    inputs = (replace(one, source=names.get(one.source.shown, one.source)) for one in plan.inputs)
    return replace(plan, inputs=tuple(inputs))


def _kept(source: Source) -> dict[str, Any]:
    return {**asdict(source), "name": source.shown}


def _listed(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    if len(names) == 1:
        return [f"{names[0]!r} is {what}"]
    return [f"{names[0]!r} and {len(names) - 1} more are {what}"]


def _looked_at(source: Source, columns: Columns | None, kind: Format | None) -> Input | None:
    """How a file is to be read; None where it holds no row."""
    try:
        with opened(source.name) as stream:
            found = form(stream, name=source.name, kind=kind)
        with opened(source.name) as stream:
            table = table_of(read_piece(stream, Piece(), found), columns=columns)
    except TableError as error:
        raise TableError(f"{source.shown}: {error}") from error
    if table.empty:
        return None
    return Input(source=source, form=found, candidates=table.candidates, columns=table.columns)


def _pieces(one: Input, unit_rows: int) -> list[Piece]:
    try:
        with opened(one.source.name) as stream:
            return list(cut(stream, one.form, rows=unit_rows))
    except TableError as error:
        raise TableError(f"{one.source.shown}: {error}") from error


def _short(value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return said if len(said) <= 60 else f"{said[:40]}... ({hashlib.sha256(said.encode()).hexdigest()[:8]})"


def _plain(value: Any) -> Any:
    return asdict(value)


_PIECE = ("rows", "above", "begin", "end", "head", "skip")
