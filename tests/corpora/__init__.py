"""Texts to measure the detectors with, built at run time: no secret stands in a file."""
