"""Verdicts for people: in a terminal and as an HTML page. Nothing is judged or read from files here."""

from groundwire.report.entries import Entry as Entry
from groundwire.report.entries import Group as Group
from groundwire.report.entries import Judged as Judged
from groundwire.report.tally import Tally as Tally

__all__ = ["Entry", "Group", "Judged", "Tally"]
