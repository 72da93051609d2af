"""The version of this package, for whatever names it to others."""

VERSION = "0.1.0"
