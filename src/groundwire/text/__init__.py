"""Text with offsets: sentences, claims, words, and the exact facts in them.

Everything here is a pure function of strings. No model, no request, no file may live here.
"""
