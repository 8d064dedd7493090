"""Procedural memory: folders with a SKILL.md, after the Agent Skills standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.skills.files import files_beside as files_beside
    from engramdown.skills.imports import PLACES as PLACES
    from engramdown.skills.imports import Incoming as Incoming
    from engramdown.skills.imports import found_at as found_at
    from engramdown.skills.library import Action as Action
    from engramdown.skills.library import Change as Change
    from engramdown.skills.library import Fate as Fate
    from engramdown.skills.library import Known as Known
    from engramdown.skills.library import Skills as Skills
    from engramdown.skills.library import changed as changed
    from engramdown.skills.library import open_skills as open_skills
    from engramdown.skills.library import with_body as with_body
    from engramdown.skills.library import with_description as with_description
    from engramdown.skills.library import with_text as with_text
    from engramdown.skills.store import Skill as Skill
    from engramdown.skills.store import built_in as built_in
    from engramdown.skills.validation import Finding as Finding

__getattr__, __dir__ = door(
    __name__,
    {
        "files": ["files_beside"],
        "imports": ["Incoming", "PLACES", "found_at"],
        "library": [
            *("Action", "Change", "Fate", "Known", "Skills", "changed", "open_skills"),
            *("with_body", "with_description", "with_text"),
        ],
        "store": ["Skill", "built_in"],
        "validation": ["Finding"],
    },
)
