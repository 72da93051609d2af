"""The isolated side: the drivers that run plans, and the models that answer what plans ask.

Colour (sync or async), clocks, threads and frameworks' models live here and nowhere below.
"""
