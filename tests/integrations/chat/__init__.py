"""Tests of conversations with a model."""
