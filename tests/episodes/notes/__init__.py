"""Tests of the notes on running conversations."""
