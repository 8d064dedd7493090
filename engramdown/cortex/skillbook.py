"""The skills of two scopes: which ones a model may be shown, and what it reads of one.

Promises: whatever a model passes as a label or a file, it gets an answer that it can act on, and
nothing out of the folder of a skill; a broken skill is told with what is wrong, and hides no other;
what git brought and nobody approved reaches no model where that is set. Reading changes no skill.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.cortex.scopes import Scopes
from engramdown.errors import EngramdownError, StoreError
from engramdown.forks import cached_property
from engramdown.storage.disk import Disk

if TYPE_CHECKING:
    from engramdown.cortex.procedures import Procedures
    from engramdown.skills.files import Beside
    from engramdown.skills.library import Skills
    from engramdown.skills.store import Skill
    from engramdown.skills.usage import Used

__all__ = ["MOST_BYTES", "RecalledSkill", "Skillbook"]

MOST_BYTES: Final = 64 * 1024
"""How much of a page, or how long a file of a skill, is shown at once, in bytes."""

_WHOSE: Final = {
    "project": "this project keeps",
    "global": "the user keeps for all projects",
    "builtin": "comes with Engramdown",
}
_HEAD: Final = (
    "Skill `{label}`: a procedure that {whose}. Follow it where it fits the task; "
    "what the user says now goes first."
)
_READ_ONE: Final = 'Read one with recall_skill: label "{label}", file "{file}".'
_LONGEST_ASKED: Final = 200
# What the line of a skill costs at least, in tokens.
_LEAST: Final = 3
_LONGEST_LIST: Final = 50
_LONGEST_DESCRIPTION: Final = 1_500
_WAITS: Final = (
    "the skill {label} came with git and waits for the user's approval; it cannot be read before. "
    "They approve it with `engramdown review`; one that is not listed there holds too much to be "
    "approved."
)


class RecalledSkill(NamedTuple):
    """What a model gets that asked for a skill.

    Attributes:
        label: The label of the skill that was found, or ``""`` if there is none.
        scope: Where it holds: ``project``, ``global`` or ``builtin``; ``""`` if there is none.
        text: For the model: the procedure, a file of it, or what went wrong.
        files: The files beside SKILL.md, each with its size in bytes.
        note: What a person may be told: that another skill was meant, or what is wrong with it.
        is_error: Whether nothing could be read, and the text says why.
    """

    label: str
    scope: str
    text: str
    files: tuple[Beside, ...] = ()
    note: str = ""
    is_error: bool = False


class Skillbook:
    """The skills of two scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Find them beside the stores of ``scopes``."""
        self._scopes = scopes

    @cached_property
    def all(self) -> Skills:
        """The skills of the project, of all projects, and those that are built in."""
        # Imported here: most programs keep none.
        from engramdown.skills.library import open_skills

        places = [(store.scope, store.root) for store in reversed(self._scopes.stores)]
        return open_skills(places, self._scopes.settings)

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
        from engramdown.cortex.procedures import SKILLS, Procedures, SkillLine

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
            from engramdown.cortex.procedures import Procedures

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
        try:
            skills, broken = self._counting()
            found = _recalled(skills, self._waiting_skills(), (label, file))
        except (EngramdownError, OSError) as error:
            return _failed(str(error))
        if found.label in broken:
            found = _with_note(found, broken[found.label])
        if not found.label and self.all.troubles:
            return _failed(f"{found.text} {self.all.troubles[0]}")
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


def _recalled(
    skills: list[Skill], waiting: set[tuple[str, str]], asked: tuple[str, str]
) -> RecalledSkill:
    from engramdown.language.untrusted import inert, one_line
    from engramdown.skills.validation import meant

    label, file = asked[0][:_LONGEST_ASKED], asked[1]
    known = {skill.label: skill for skill in skills}
    # A label that is there is the name of a folder, and leads nowhere else.
    found = label if label in known else meant(label, [*known, *(each for _, each in waiting)])
    if found in known:
        skill = known[found]
        is_other = found != label
        note = f"there is no skill {inert(label)!a}; this is {one_line(found)}" if is_other else ""
        return _told_file(skill, file, note) if file else _told(skill, note)
    if found:
        return _failed(_WAITS.format(label=one_line(found)))
    labels = [skill.label for skill in skills if skill.is_fit]
    more = f", and {len(labels) - _LONGEST_LIST} more" if len(labels) > _LONGEST_LIST else ""
    listed = ", ".join(labels[:_LONGEST_LIST]) + more
    return _failed(f"there is no skill {inert(label)!a}; there are: {listed}.")


def _told(skill: Skill, note: str) -> RecalledSkill:
    from engramdown.language.untrusted import one_line
    from engramdown.skills.files import files_beside

    wrong = [each for each in skill.findings if each.level == "error"]
    if {each.code for each in wrong} & {"unreadable", "missing"}:
        return _failed(f"the skill {skill.label} is broken: {wrong[0].message}", skill)
    files = tuple(files_beside(Disk(), skill.path.parent))
    # More than is shown is looked at for secrets: one of them may begin where it is cut.
    near = skill.page.body[: 2 * MOST_BYTES]
    body, cut = _cut(_clean(near).strip())
    cut += len(skill.page.body) - len(near)
    parts = [
        _HEAD.format(label=one_line(skill.label), whose=_WHOSE[skill.scope]),
        one_line(_clean(skill.description[:_LONGEST_DESCRIPTION])),
        body or "(nothing is written below its front matter yet; tell the user)",
    ]
    if note:
        parts.insert(0, f"({note})")
    if cut:
        path = one_line(str(skill.path))
        parts.append(f"(cut here: {cut} characters are left out; all of it is in {path})")
    if wrong:
        found = "; ".join(f"line {each.line}: {each.message}" for each in wrong)
        note = "; ".join(filter(None, [note, f"{one_line(skill.label)} is broken: {found}"]))
        parts.append(f"(Its file has errors, tell the user: {one_line(found)})")
    if files:
        parts.append(_listed(skill, files))
    text = "\n\n".join(part for part in parts if part)
    return RecalledSkill(skill.label, skill.scope, text, files, note)


def _with_note(found: RecalledSkill, broken: Skill) -> RecalledSkill:
    """Return what was found, with a word on the broken skill whose place it takes."""
    from engramdown.language.untrusted import one_line

    wrong = next(each for each in broken.findings if each.level == "error")
    path, said = one_line(str(broken.path)), one_line(wrong.message)
    note = f"{path} is broken, so this is another one of that label: {said}"
    told = f"({note}; tell the user)\n\n{found.text}"
    return found._replace(text=told, note="; ".join(filter(None, [found.note, note])))


def _listed(skill: Skill, files: tuple[Beside, ...]) -> str:
    from engramdown.language.untrusted import one_line
    from engramdown.skills.files import MOST

    lines = [f"- {one_line(each.name)} ({_size(each.size)})" for each in files]
    more = ["- … and maybe more"] if len(files) >= MOST else []
    return "\n".join(
        [
            f"Its files, in {one_line(str(skill.path.parent))}:",
            *lines,
            *more,
            _READ_ONE.format(label=one_line(skill.label), file=one_line(files[0].name)),
        ]
    )


def _told_file(skill: Skill, file: str, note: str) -> RecalledSkill:
    from engramdown.language.untrusted import inert, one_line
    from engramdown.skills.files import files_beside, read_beside

    disk, home = Disk(), skill.path.parent
    files = tuple(files_beside(disk, home))
    name = _file_meant(file, [each.name for each in files])
    if not name:
        there = ", ".join(one_line(each.name) for each in files[:_LONGEST_LIST]) or "none"
        shown = inert(file[:_LONGEST_ASKED])
        return _failed(f"the skill {skill.label} has no file {shown!a}; its files: {there}.", skill)
    try:
        said = read_beside(disk, home, name, MOST_BYTES)
    except StoreError as error:
        return _failed(str(error), skill, files)
    label = one_line(skill.label)
    head = f"`{one_line(name)}` of the skill `{label}`, which {_WHOSE[skill.scope]}:"
    text = "\n\n".join(filter(None, [f"({note})" if note else "", head, _clean(said)]))
    return RecalledSkill(skill.label, skill.scope, text, files, note)


def _failed(
    reason: str, skill: Skill | None = None, files: tuple[Beside, ...] = ()
) -> RecalledSkill:
    from engramdown.language.untrusted import one_line
    from engramdown.secrets.redaction import redact

    text = one_line(redact(reason))
    if skill is None:
        return RecalledSkill("", "", text, files, text, is_error=True)
    return RecalledSkill(skill.label, skill.scope, text, files, text, is_error=True)


def _file_meant(file: str, names: list[str]) -> str:
    """Return the file that is meant: by its name, or its last part if only one ends so."""
    asked = file.replace("\\", "/").removeprefix("./")
    if asked in names:
        return asked
    ending = [name for name in names if name.rpartition("/")[2] == asked]
    return ending[0] if len(ending) == 1 else ""


def _clean(text: str) -> str:
    """Return a text of a skill without secrets, and with nothing in it that acts or hides."""
    from engramdown.language.untrusted import inert
    from engramdown.secrets.redaction import redact

    return inert(redact(text))


def _cut(text: str) -> tuple[str, int]:
    """Return as much of a text as is shown, up to a line end, and how much is left out."""
    if len(text) <= MOST_BYTES:
        return text, 0
    end = text.rfind("\n", 0, MOST_BYTES) + 1 or MOST_BYTES
    return text[:end].rstrip(), len(text) - end


def _size(size: int) -> str:
    kilobyte = 1024
    if size < kilobyte:
        return f"{size} bytes"
    return f"{size / kilobyte:.0f} KB"
