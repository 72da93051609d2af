"""What is tried with bytes that nobody chose: by atheris for as long as one likes, by the tests for a second.

``make fuzz`` runs them all, ``make fuzz ARGS="replied --seconds 600"`` one. What was found is kept in
``corpus``.
"""
