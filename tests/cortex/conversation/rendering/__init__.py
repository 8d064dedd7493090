"""Prompts as providers take them."""
