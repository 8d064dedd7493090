"""Procedural memory: folders with a SKILL.md, after the Agent Skills standard."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
