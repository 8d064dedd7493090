"""Whole stories through the public names, with real files."""
