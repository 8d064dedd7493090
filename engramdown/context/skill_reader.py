"""Gives a model the skills of two scopes: which it may see, and what it reads of one.

Whatever a model passes as a label or a file, it gets an answer that it can act on, and nothing from
outside the skill's folder. What is shown has no secrets, and nothing in it that acts or hides. A
broken skill is reported with its errors and hides no other. What git brought and nobody approved
reaches no model where that is set. Reading changes no skill.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.errors import EngramdownError, StoreError
from engramdown.forks import cached_property
from engramdown.gate.scopes import Scopes
from engramdown.language.untrusted import inert, one_line

# Imported in functions: most programs keep no skills, and nothing is loaded for them.
if TYPE_CHECKING:
    from engramdown.context.sections import Procedures
    from engramdown.skills.files import Beside
    from engramdown.skills.library import Skills
    from engramdown.skills.store import Skill
    from engramdown.storage.usage import Used

# How much of a page, or how long a file of a skill, is shown at once, in bytes.
MOST_BYTES: Final = 64 * 1024

# What the line of a skill costs at least, in tokens.
_LEAST: Final = 3
_WHOSE: Final = {
    "project": "this project keeps",
    "global": "the user keeps for all projects",
    "builtin": "comes with Engramdown",
}
_LONGEST_ASKED: Final = 200
_LONGEST_LIST: Final = 50
_LONGEST_DESCRIPTION: Final = 1_500
_KILOBYTE: Final = 1024


class RecalledSkill(NamedTuple):
    """The answer to a model that asked for a skill.

    Attributes:
        label: The label of the skill that was found, or ``""``.
        scope: Where it holds: ``project``, ``global`` or ``builtin``; or ``""``.
        text: For the model: the procedure, a file of it, or what went wrong.
        files: The files beside SKILL.md, each with its size in bytes.
        is_error: Whether nothing could be read, and the text says why.
    """

    label: str
    scope: str
    text: str
    files: tuple[Beside, ...] = ()
    is_error: bool = False


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
        from engramdown.skills.library import open_skills

        stores = {store.scope: store for store in reversed(self._scopes.stores)}
        places = [(scope, store.root) for scope, store in stores.items()]
        return open_skills(places, self._scopes.settings, lambda scope, _: stores[scope].start())

    @cached_property
    def _uses_at_midnight(self) -> dict[str, Used]:
        """How often each was read before the day in which this was first asked for.

        The processes of a day agree, and a process goes on as it began.
        """
        from engramdown.storage.usage import midnight

        return self.all.uses(midnight())

    def uses(self) -> dict[str, Used]:
        """Return how often each skill was read by a model, by scope and label: ``project/charts``.

        Uses of built-in skills are counted in the global scope.
        """
        return self.all.uses()

    def lines(self) -> Procedures:
        """Return the skills that a model may see; built-in ones are listed only beside others.

        Raises:
            StoreError: If it is unknown which of them git brought.
        """
        from engramdown.context.sections import SKILLS, Procedures, SkillLine

        if not any((store.root / "skills").is_dir() for store in self._scopes.stores):
            return Procedures()
        from engramdown.secrets.redaction import redact

        uses = {name: used.times for name, used in self._uses_at_midnight.items()}
        # Only as many are read as may fit into the section, those first that are read most.
        budget = max(self._scopes.settings.budgets.get("skills", SKILLS), 0)
        labels = self.all.labels()
        times = {
            label: max(uses.get(f"{scope}/{label}", 0) for scope in ("project", "global"))
            for label in labels
        }
        listed = sorted(labels, key=lambda each: (-times[each], each))[: budget // _LEAST + 1]
        usable = self.usable(listed)
        ours = tuple(
            SkillLine(
                each.label, redact(each.description), uses.get(f"{each.scope}/{each.label}", 0)
            )
            for each in usable
            if each.scope != "builtin"
        )
        built_in = tuple(each.label for each in usable if each.scope == "builtin")
        return Procedures(ours, built_in, len(labels) - len(listed))

    def readable_lines(self) -> Procedures:
        """Return the same; if skills cannot be read, add a notice and return none."""
        try:
            return self.lines()
        except (EngramdownError, OSError) as error:
            from engramdown.context.sections import Procedures

            self._scopes.tell(f"could not read skills: {error}")
            return Procedures()

    def usable(self, labels: Collection[str] | None = None) -> list[Skill]:
        """Return the skills that a model may follow, by label: of each label the one that counts.

        Broken skills are left out, and with ``pulled = "review"`` those that git brought and nobody
        approved: they take the place of no other.

        Args:
            labels: Read only those with these labels, and those that are built in.
        """
        counting, _, _ = self._counting(labels)
        return [skill for skill in counting if skill.is_fit]

    def recall(self, label: str, file: str = "") -> RecalledSkill:
        """Return a skill as a model reads it: how it is done, and which files it has.

        If it cannot be found, the answer says so, and what there is.

        Args:
            label: Which one; what is nearly its label will do.
            file: A file of the skill that is read instead, ``references/api.md`` say.
        """
        from engramdown.skills.validation import meant
        from engramdown.storage.usage import Usage

        try:
            skills, broken, waiting = self._counting()
            label = label[:_LONGEST_ASKED]
            known = {skill.label: skill for skill in skills}
            # A label that is there is the name of a folder, and leads nowhere else.
            labels = [*known, *(each for _, each in waiting)]
            chosen = label if label in known else meant(label, labels)
            if chosen in known:
                skill = known[chosen]
                note = f"there is no skill {inert(label)!a}; this is {one_line(chosen)}"
                note = note if chosen != label else ""
                found = _read_file(skill, file, note) if file else _read_skill(skill, note)
            else:
                found = _unknown(skills, label, chosen)
        except (EngramdownError, OSError) as error:
            return _failed(str(error))
        if found.label in broken:
            found = _with_note(found, broken[found.label])
        if not found.label and self.all.troubles:
            return _failed(f"{found.text} {self.all.troubles[0]}")
        scope = "global" if found.scope == "builtin" else found.scope
        roots = [store.root for store in self._scopes.stores if store.scope == scope]
        # In mode off, in a dry run and on a full disk it is not counted.
        if not (found.is_error or file or self._scopes.mode == "off" or self._scopes.is_dry):
            for root in roots[:1]:
                Usage(root).add([f"{found.scope}/{found.label}"])
        return found

    def _counting(
        self, labels: Collection[str] | None = None
    ) -> tuple[list[Skill], Mapping[str, Skill], set[tuple[str, str]]]:
        """Return of each label the skill that counts, the broken ones, and what waits.

        A broken one is named by its label if another takes its place; what waits for a person's
        approval, by scope and label.
        """
        waiting = self._scopes.pulled.hidden_skills(labels) if self._scopes.reviews else set()
        chosen: dict[str, Skill] = {}
        broken: dict[str, Skill] = {}
        for known in self.all.known(briefly=True, labels=labels):
            skill = known.skill
            if skill.is_there and (skill.scope, skill.label) not in waiting:
                before = chosen.setdefault(skill.label, skill)
                if skill.is_fit and not before.is_fit:
                    chosen[skill.label], broken[skill.label] = skill, before
        for trouble in self.all.troubles:
            self._scopes.tell(f"could not read skills: {trouble}")
        return [chosen[label] for label in sorted(chosen)], broken, waiting


# ---- what a model reads ----


def _unknown(skills: list[Skill], label: str, waiting: str) -> RecalledSkill:
    """Return the answer for a label that no skill has; ``waiting`` is one nearly of that label."""
    if waiting:
        return _failed(
            f"the skill {one_line(waiting)} came with git and waits for the user's approval; it "
            "cannot be read before. They approve it with `engramdown review`; one that is not "
            "listed there holds too much to be approved."
        )
    labels = [skill.label for skill in skills if skill.is_fit]
    more = f", and {len(labels) - _LONGEST_LIST} more" if len(labels) > _LONGEST_LIST else ""
    listed = ", ".join(labels[:_LONGEST_LIST]) + more
    return _failed(f"there is no skill {inert(label)!a}; there are: {listed}.")


def _read_skill(skill: Skill, note: str) -> RecalledSkill:
    from engramdown.skills.files import MOST, files_beside
    from engramdown.storage.disk import Disk

    wrong = [each for each in skill.findings if each.level == "error"]
    if {each.code for each in wrong} & {"unreadable", "missing"}:
        return _failed(f"the skill {skill.label} is broken: {wrong[0].message}", skill)
    folder, label = skill.path.parent, one_line(skill.label)
    files = tuple(files_beside(Disk(), folder))
    # More than is shown is looked at for secrets: one of them may begin where it is cut.
    near = skill.page.body[: 2 * MOST_BYTES]
    body = whole = _clean(near).strip()
    if len(whole) > MOST_BYTES:
        body = whole[: whole.rfind("\n", 0, MOST_BYTES) + 1 or MOST_BYTES]
    cut = len(whole) - len(body) + len(skill.page.body) - len(near)
    head = (
        f"Skill `{label}`: a procedure that {_WHOSE[skill.scope]}. Follow it where it fits the "
        "task; what the user says now goes first."
    )
    parts = [
        f"({note})" if note else "",
        head,
        one_line(_clean(skill.description[:_LONGEST_DESCRIPTION])),
        body.rstrip() or "(nothing is written below its front matter yet; tell the user)",
    ]
    if cut:
        path = one_line(str(skill.path))
        parts.append(f"(cut here: {cut} characters are left out; all of it is in {path})")
    if wrong:
        found = "; ".join(f"line {each.line}: {each.message}" for each in wrong)
        parts.append(f"(Its file has errors, tell the user: {one_line(found)})")
    if files:
        listed = [f"Its files, in {one_line(str(folder))}:"]
        for each in files:
            is_small = each.size < _KILOBYTE
            size = f"{each.size} bytes" if is_small else f"{each.size / _KILOBYTE:.0f} KB"
            listed.append(f"- {one_line(each.name)} ({size})")
        listed += ["- … and maybe more"] if len(files) >= MOST else []
        first = one_line(files[0].name)
        listed.append(f'Read one with recall_skill: label "{label}", file "{first}".')
        parts.append("\n".join(listed))
    return RecalledSkill(skill.label, skill.scope, "\n\n".join(filter(None, parts)), files)


def _read_file(skill: Skill, file: str, note: str) -> RecalledSkill:
    from engramdown.skills.files import files_beside, read_beside
    from engramdown.storage.disk import Disk

    disk, home = Disk(), skill.path.parent
    files = tuple(files_beside(disk, home))
    names = [each.name for each in files]
    # Meant is a file by its name, or by its last part if only one ends so.
    asked = file.replace("\\", "/").removeprefix("./")
    ending = [name for name in names if name.rpartition("/")[2] == asked]
    if asked not in names and len(ending) != 1:
        there = ", ".join(map(one_line, names[:_LONGEST_LIST])) or "none"
        shown = inert(file[:_LONGEST_ASKED])
        return _failed(f"the skill {skill.label} has no file {shown!a}; its files: {there}.", skill)
    name = asked if asked in names else ending[0]
    try:
        said = read_beside(disk, home, name, MOST_BYTES)
    except StoreError as error:
        return _failed(str(error), skill, files)
    label = one_line(skill.label)
    head = f"`{one_line(name)}` of the skill `{label}`, which {_WHOSE[skill.scope]}:"
    text = "\n\n".join(filter(None, [f"({note})" if note else "", head, _clean(said)]))
    return RecalledSkill(skill.label, skill.scope, text, files)


def _with_note(found: RecalledSkill, broken: Skill) -> RecalledSkill:
    """Return what was found, with a word on the broken skill whose place it takes."""
    wrong = next(each for each in broken.findings if each.level == "error")
    path, said = one_line(str(broken.path)), one_line(wrong.message)
    note = f"{path} is broken, so this is another one of that label: {said}; tell the user"
    return found._replace(text=f"({note})\n\n{found.text}")


def _failed(
    reason: str, skill: Skill | None = None, files: tuple[Beside, ...] = ()
) -> RecalledSkill:
    """Return the answer that something could not be read."""
    from engramdown.secrets.redaction import redact

    text = one_line(redact(reason))
    label, scope = (skill.label, skill.scope) if skill else ("", "")
    return RecalledSkill(label, scope, text, files, is_error=True)


def _clean(text: str) -> str:
    """Return a text of a skill without secrets, and with nothing in it that acts or hides."""
    from engramdown.secrets.redaction import redact

    return inert(redact(text))
