"""Importers: readers, and the shell around them."""
