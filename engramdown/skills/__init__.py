"""Procedural memory: folders with a SKILL.md, after the Agent Skills standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.skills.files import files_beside
    from engramdown.skills.imports import PLACES, Incoming, found_at
    from engramdown.skills.library import (
        Action,
        Change,
        Fate,
        Known,
        Skills,
        changed,
        open_skills,
        with_body,
        with_description,
        with_text,
    )
    from engramdown.skills.store import Skill, Used, built_in
    from engramdown.skills.validation import Finding

__all__ = [
    "PLACES",
    "Action",
    "Change",
    "Fate",
    "Finding",
    "Incoming",
    "Known",
    "Skill",
    "Skills",
    "Used",
    "built_in",
    "changed",
    "files_beside",
    "found_at",
    "open_skills",
    "with_body",
    "with_description",
    "with_text",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "files": ["files_beside"],
        "imports": ["Incoming", "PLACES", "found_at"],
        "library": [
            "Action",
            "Change",
            "Fate",
            "Known",
            "Skills",
            "changed",
            "open_skills",
            "with_body",
            "with_description",
            "with_text",
        ],
        "store": ["Skill", "Used", "built_in"],
        "validation": ["Finding"],
    },
)
