"""Tests of memory as values under keys."""
