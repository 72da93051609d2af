"""``python -m groundwire`` is the command ``groundwire``."""

from groundwire.cli.main import entry

entry()
