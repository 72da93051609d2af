"""Detectors one after the other, each deciding what it is sure of, and where their bands come from."""
