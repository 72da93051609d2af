"""The embedded model: how text becomes its rows, the encoder that reads them, and its weights."""
