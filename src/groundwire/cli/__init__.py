"""The command line. It reads options and prints; whatever could serve a program too lives below it."""
