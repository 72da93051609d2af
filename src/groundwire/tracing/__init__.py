"""Verdicts on the traces people already look at, one tracing system a file.

A verdict goes to where the judged run is traced, never anywhere else: where the host traces nothing, nothing
is sent. Importing this room imports no tracing library, opens no socket and reads no environment.
"""
