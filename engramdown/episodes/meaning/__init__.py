"""Recall by meaning, beside recall by words: only with an embedder."""

__all__: list[str] = []
