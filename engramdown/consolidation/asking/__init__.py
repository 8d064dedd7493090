"""Asking a language model: calls, their cost and their ledger, and what is made of an answer."""

__all__: list[str] = []
