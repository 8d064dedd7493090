"""Procedural memory: folders with a SKILL.md, after the Agent Skills standard."""

from __future__ import annotations

__all__: list[str] = []
