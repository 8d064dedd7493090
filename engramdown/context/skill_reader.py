"""Gives a model the skills of two scopes: which it may see, and what it reads of one.

Whatever a model passes as a label or a file, it gets an answer that it can act on, and nothing from
outside the skill's folder. A broken skill is reported with its errors and hides no other. What git
brought and nobody approved reaches no model where that is set. Reading changes no skill.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from engramdown.errors import EngramdownError
from engramdown.forks import cached_property
from engramdown.gate.scopes import Scopes

if TYPE_CHECKING:
    from engramdown.context.sections import Procedures
    from engramdown.skills.library import Skills
    from engramdown.skills.model_text import RecalledSkill
    from engramdown.skills.store import Skill
    from engramdown.skills.usage import Used

# What the line of a skill costs at least, in tokens.
_LEAST: Final = 3


class Skillbook:
    """The skills of two scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Find them beside the stores of ``scopes``."""
        self._scopes = scopes

    def __call__(self) -> Skills:
        """Return :attr:`all`, as ``cortex.skills()`` did; it works until 0.3."""
        msg = "cortex.skills() is deprecated and goes with 0.3; use cortex.skills.all"
        warnings.warn(msg, DeprecationWarning, stacklevel=2)
        return self.all

    @cached_property
    def all(self) -> Skills:
        """The skills of the project, of all projects, and those that are built in."""
        # Imported here: most programs keep none.
        from engramdown.skills.library import open_skills

        stores = {store.scope: store for store in reversed(self._scopes.stores)}
        places = [(scope, store.root) for scope, store in stores.items()]
        return open_skills(places, self._scopes.settings, lambda scope, _: stores[scope].start())

    @cached_property
    def _uses_at_midnight(self) -> dict[str, Used]:
        """How often each was read before the day in which this was first asked for.

        The processes of a day tell the same, and a process goes on as it began.
        """
        from engramdown.skills.usage import midnight

        return self.all.uses(midnight())

    def uses(self) -> dict[str, Used]:
        """Return how often each skill was read by a model, by scope and label: ``project/charts``.

        What was counted of built-in ones stands with that of all projects.
        """
        return self.all.uses()

    def lines(self) -> Procedures:
        """Return what a model may be told of skills; built-in ones stand beside others only.

        Raises:
            StoreError: If it cannot be found out what of them git brought.
        """
        # Imported here: where nobody keeps a skill, nothing is loaded for them.
        from engramdown.context.sections import SKILLS, Procedures, SkillLine

        if not any((store.root / "skills").is_dir() for store in self._scopes.stores):
            return Procedures()
        from engramdown.secrets.redaction import redact

        uses = self._uses_at_midnight

        def line(skill: Skill) -> SkillLine:
            used = uses.get(f"{skill.scope}/{skill.label}")
            return SkillLine(skill.label, redact(skill.description), used.times if used else 0)

        # No more of them fit into the section, those first that are read most: however many there
        # are, no more are read.
        budget = max(self._scopes.settings.budgets.get("skills", SKILLS), 0)
        labels = self.all.labels()
        told = sorted(labels, key=lambda each: (-_times(uses, each), each))[: budget // _LEAST + 1]
        usable = self.usable(told)
        ours = [skill for skill in usable if skill.scope != "builtin"]
        built_in = [skill.label for skill in usable if skill.scope == "builtin"]
        unread = len(labels) - len(told)
        return Procedures(tuple(map(line, ours)), tuple(built_in), unread)

    def readable_lines(self) -> Procedures:
        """Return the same; what cannot be read is a notice, and nothing of it is told."""
        try:
            return self.lines()
        except (EngramdownError, OSError) as error:
            from engramdown.context.sections import Procedures

            self._scopes.tell(f"could not read skills: {error}")
            return Procedures()

    def usable(self, labels: Collection[str] | None = None) -> list[Skill]:
        """Return the skills that a model may follow, by label: of each label the one that counts.

        Left out is what is broken, and with ``pulled = "review"`` what git brought and nobody
        approved: it takes the place of no other.

        Args:
            labels: Read only those with these labels, and those that are built in.
        """
        return [skill for skill in self._counting(labels)[0] if skill.is_fit]

    def recall(self, label: str, file: str = "") -> RecalledSkill:
        """Return a skill as a model reads it: how it is done, and which files it has.

        What cannot be found is told in the answer, with what there is.

        Args:
            label: Which one; what is nearly its label will do.
            file: A file of the skill that is read instead, ``references/api.md`` say.
        """
        from engramdown.skills import model_text

        try:
            skills, broken = self._counting()
            found = model_text.recall(skills, self._waiting_skills(), label, file)
        except (EngramdownError, OSError) as error:
            return model_text.failed(str(error))
        if found.label in broken:
            found = model_text.with_note(found, broken[found.label])
        if not found.label and self.all.troubles:
            return model_text.failed(f"{found.text} {self.all.troubles[0]}")
        if not found.is_error and not file:
            self._count(found)
        return found

    def _count(self, found: RecalledSkill) -> None:
        """Count that a skill was read; in mode off, in a rehearsal and on a full disk it is not."""
        from engramdown.skills.usage import Usage

        scope = "global" if found.scope == "builtin" else found.scope
        roots = [store.root for store in self._scopes.stores if store.scope == scope]
        if self._scopes.mode != "off" and not self._scopes.rehearsing and roots:
            Usage(roots[0]).add(found.scope, found.label)

    def _counting(
        self, labels: Collection[str] | None = None
    ) -> tuple[list[Skill], dict[str, Skill]]:
        """Return of each label the skill that counts, and the broken one whose place it takes."""
        waiting = self._waiting_skills(labels)
        chosen: dict[str, Skill] = {}
        broken: dict[str, Skill] = {}
        skills = self.all
        for known in skills.known(briefly=True, labels=labels):
            skill = known.skill
            if skill.is_there and (skill.scope, skill.label) not in waiting:
                before = chosen.setdefault(skill.label, skill)
                if skill.is_fit and not before.is_fit:
                    chosen[skill.label], broken[skill.label] = skill, before
        for trouble in skills.troubles:
            self._scopes.tell(f"could not read skills: {trouble}")
        return [chosen[label] for label in sorted(chosen)], broken

    def _waiting_skills(self, labels: Collection[str] | None = None) -> set[tuple[str, str]]:
        """Return scope and label of each skill that waits for a person's approval."""
        return self._scopes.pulled.hidden_skills(labels) if self._scopes.reviews else set()


def _times(uses: Mapping[str, Used], label: str) -> int:
    """Return how often a skill was read, in whichever scope it counts."""
    found = (uses.get(f"{scope}/{label}") for scope in ("project", "global"))
    return max((used.times for used in found if used), default=0)
