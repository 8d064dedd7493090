"""What a model reads that asks for a skill: its procedure, a file of it, or what went wrong.

Whatever a model passes as a label or a file, it gets an answer that it can act on, and nothing out
of the folder of a skill. What is shown has no secrets, and nothing in it that acts or hides.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.language.untrusted import inert, one_line
from engramdown.secrets.redaction import redact
from engramdown.skills.files import MOST, Beside, files_beside, read_beside
from engramdown.skills.store import Skill
from engramdown.skills.validation import meant
from engramdown.storage.disk import Disk

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


def recall(
    skills: list[Skill], waiting: set[tuple[str, str]], label: str, file: str
) -> RecalledSkill:
    """Return what a model reads.

    Args:
        skills: The skill that counts, of each label.
        waiting: Scope and label of those that wait for a person's approval.
        label: Which one; what is nearly its label will do.
        file: A file of the skill that is read instead, or ``""``.
    """
    label = label[:_LONGEST_ASKED]
    known = {skill.label: skill for skill in skills}
    # A label that is there is the name of a folder, and leads nowhere else.
    found = label if label in known else meant(label, [*known, *(each for _, each in waiting)])
    if found in known:
        skill = known[found]
        is_other = found != label
        note = f"there is no skill {inert(label)!a}; this is {one_line(found)}" if is_other else ""
        return _read_file(skill, file, note) if file else _read_skill(skill, note)
    if found:
        return failed(_WAITS.format(label=one_line(found)))
    labels = [skill.label for skill in skills if skill.is_fit]
    more = f", and {len(labels) - _LONGEST_LIST} more" if len(labels) > _LONGEST_LIST else ""
    listed = ", ".join(labels[:_LONGEST_LIST]) + more
    return failed(f"there is no skill {inert(label)!a}; there are: {listed}.")


def _read_skill(skill: Skill, note: str) -> RecalledSkill:
    wrong = [each for each in skill.findings if each.level == "error"]
    if {each.code for each in wrong} & {"unreadable", "missing"}:
        return failed(f"the skill {skill.label} is broken: {wrong[0].message}", skill)
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


def with_note(found: RecalledSkill, broken: Skill) -> RecalledSkill:
    """Return what was found, with a word on the broken skill whose place it takes."""
    wrong = next(each for each in broken.findings if each.level == "error")
    path, said = one_line(str(broken.path)), one_line(wrong.message)
    note = f"{path} is broken, so this is another one of that label: {said}"
    told = f"({note}; tell the user)\n\n{found.text}"
    return found._replace(text=told, note="; ".join(filter(None, [found.note, note])))


def _listed(skill: Skill, files: tuple[Beside, ...]) -> str:
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


def _read_file(skill: Skill, file: str, note: str) -> RecalledSkill:
    disk, home = Disk(), skill.path.parent
    files = tuple(files_beside(disk, home))
    name = _file_meant(file, [each.name for each in files])
    if not name:
        there = ", ".join(one_line(each.name) for each in files[:_LONGEST_LIST]) or "none"
        shown = inert(file[:_LONGEST_ASKED])
        return failed(f"the skill {skill.label} has no file {shown!a}; its files: {there}.", skill)
    try:
        said = read_beside(disk, home, name, MOST_BYTES)
    except StoreError as error:
        return failed(str(error), skill, files)
    label = one_line(skill.label)
    head = f"`{one_line(name)}` of the skill `{label}`, which {_WHOSE[skill.scope]}:"
    text = "\n\n".join(filter(None, [f"({note})" if note else "", head, _clean(said)]))
    return RecalledSkill(skill.label, skill.scope, text, files, note)


def failed(
    reason: str, skill: Skill | None = None, files: tuple[Beside, ...] = ()
) -> RecalledSkill:
    """Return the answer to what could not be read."""
    text = one_line(redact(reason))
    label, scope = (skill.label, skill.scope) if skill else ("", "")
    return RecalledSkill(label, scope, text, files, text, is_error=True)


def _file_meant(file: str, names: list[str]) -> str:
    """Return the file that is meant: by its name, or its last part if only one ends so."""
    asked = file.replace("\\", "/").removeprefix("./")
    if asked in names:
        return asked
    ending = [name for name in names if name.rpartition("/")[2] == asked]
    return ending[0] if len(ending) == 1 else ""


def _clean(text: str) -> str:
    """Return a text of a skill without secrets, and with nothing in it that acts or hides."""
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
