"""Prints the table of attacks."""

from tests.judge.attacks import table

print(table())  # noqa: T201 - this is a command
