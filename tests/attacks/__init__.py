"""Attacks on memory, and what must come of each; tests/attacks/listed.py says where which is."""
