"""Tests of memory as a folder that a model edits."""
