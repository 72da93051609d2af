"""Who tells of a drift where several processes watch: the one that writes it into the store first.

The others, and those that are started while it lasts, find it there. It stays until one of them has seen that
it is over, unless it could not be told. How drift is found is none of this module's business.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping

import sqlalchemy as sa

from groundwire.monitor.answer import microseconds
from groundwire.monitor.database import Database, StoreError
from groundwire.monitor.drift import Alarm, Drifting, Watch
from groundwire.monitor.schema import settings

_LOG = logging.getLogger(__name__)
PREFIX = "drift.told."


class Telling:
    """Which drifts were told of since a reference began, by monitors of the same ``tags``.

    Not safe to share between threads, but for ``give_back``.
    """

    def __init__(self, database: Database, tags: Mapping[str, str]) -> None:
        self._database = database
        self._who = hashlib.sha256(json.dumps(sorted(tags.items())).encode()).hexdigest()[:16]
        self._baseline = 0
        self._told: dict[Drifting, str] = {}

    def look(self, baseline: int) -> None:
        """See what was told of, by whomever, since the reference began at ``baseline``."""
        self._baseline = baseline
        names = {self._name(what): what for what in Drifting}
        query = sa.select(settings.c.name, settings.c.value).where(settings.c.name.in_(names))
        with self._database.reading() as connection:
            self._told = {names[name]: value for name, value in connection.execute(query)}

    def is_first(self, alarm: Alarm) -> bool:
        """Whether this alarm is ours to tell, which from now on nobody else will.

        Also where the store can't say: better told twice than never.
        """
        name, value = self._name(alarm.what), str(microseconds(alarm.at))
        insert = self._database.insert(settings).on_conflict_do_nothing(index_elements=["name"])
        claim = insert.returning(settings.c.name)  # which is nothing where there was a conflict
        try:
            with self._database.writing() as connection:
                first = connection.execute(claim, {"name": name, "value": value}).first() is not None
            self.look(self._baseline)
        except StoreError as error:
            _LOG.warning("%s: an alarm may be told by several processes", error)
            return True
        return first

    def give_back(self, alarm: Alarm) -> None:
        """Let this alarm, which is ours and could not be told, be told by whoever sees it next."""
        try:
            self._remove(alarm.what, str(microseconds(alarm.at)))
        except StoreError as error:  # the next attempt tries again
            _LOG.warning("%s: that an alarm could not be told could not be kept", error)

    def is_ours_again(self, alarm: Alarm) -> bool:
        """Whether an alarm that could not be told is still ours, and nobody else's by now."""
        self.give_back(alarm)
        return self.is_first(alarm)

    def end(self, watch: Watch) -> None:
        """Let what is over be told again when it comes back."""
        for what, value in list(self._told.items()):
            if watch.is_over(what, since=int(value)):
                del self._told[what]
                try:
                    self._remove(what, value)
                except StoreError as error:  # the next look tries again
                    _LOG.warning("%s: that a drift is over could not be kept", error)

    def _remove(self, what: Drifting, value: str) -> None:
        """Forget that this was told, and no later one."""
        this = (settings.c.name == self._name(what)) & (settings.c.value == value)
        with self._database.writing() as connection:
            connection.execute(sa.delete(settings).where(this))

    def _name(self, what: Drifting) -> str:
        return f"{PREFIX}{what}.{self._baseline}.{self._who}"
