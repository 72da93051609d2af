"""What groundwire means: its nouns, their laws and the plan protocol.

Standard library and numpy alone. No framework, no clock, no disk, no network may live here.
"""
