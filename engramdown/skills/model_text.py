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
_LONGEST_ASKED: Final = 200
_LONGEST_LIST: Final = 50
_LONGEST_DESCRIPTION: Final = 1_500


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
        is_other = found != label
        note = f"there is no skill {inert(label)!a}; this is {one_line(found)}" if is_other else ""
        return _read_file(known[found], file, note) if file else _read_skill(known[found], note)
    if found:
        return failed(
            f"the skill {one_line(found)} came with git and waits for the user's approval; it "
            "cannot be read before. They approve it with `engramdown review`; one that is not "
            "listed there holds too much to be approved."
        )
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
    body = _clean(near).strip()
    # Up to a line end.
    end = len(body)
    if end > MOST_BYTES:
        end = body.rfind("\n", 0, MOST_BYTES) + 1 or MOST_BYTES
    cut = len(body) - end + len(skill.page.body) - len(near)
    label = one_line(skill.label)
    parts = [
        f"({note})" if note else "",
        (
            f"Skill `{label}`: a procedure that {_WHOSE[skill.scope]}. Follow it where it fits the "
            "task; what the user says now goes first."
        ),
        one_line(_clean(skill.description[:_LONGEST_DESCRIPTION])),
        body[:end].rstrip() or "(nothing is written below its front matter yet; tell the user)",
    ]
    if cut:
        path = one_line(str(skill.path))
        parts.append(f"(cut here: {cut} characters are left out; all of it is in {path})")
    if wrong:
        found = "; ".join(f"line {each.line}: {each.message}" for each in wrong)
        note = "; ".join(filter(None, [note, f"{label} is broken: {found}"]))
        parts.append(f"(Its file has errors, tell the user: {one_line(found)})")
    if files:
        rows = [f"- {one_line(each.name)} ({_size(each.size)})" for each in files]
        rows += ["- … and maybe more"] if len(files) >= MOST else []
        first = one_line(files[0].name)
        rows.append(f'Read one with recall_skill: label "{label}", file "{first}".')
        folder = one_line(str(skill.path.parent))
        parts.append("\n".join([f"Its files, in {folder}:", *rows]))
    text = "\n\n".join(filter(None, parts))
    return RecalledSkill(skill.label, skill.scope, text, files, note)


def with_note(found: RecalledSkill, broken: Skill) -> RecalledSkill:
    """Return what was found, with a word on the broken skill whose place it takes."""
    wrong = next(each for each in broken.findings if each.level == "error")
    path, said = one_line(str(broken.path)), one_line(wrong.message)
    note = f"{path} is broken, so this is another one of that label: {said}"
    told = f"({note}; tell the user)\n\n{found.text}"
    return found._replace(text=told, note="; ".join(filter(None, [found.note, note])))


def _read_file(skill: Skill, file: str, note: str) -> RecalledSkill:
    disk, home = Disk(), skill.path.parent
    files = tuple(files_beside(disk, home))
    names = [each.name for each in files]
    # By its name, or its last part if only one ends so.
    asked = file.replace("\\", "/").removeprefix("./")
    found = [name for name in names if name == asked]
    found = found or [name for name in names if name.rpartition("/")[2] == asked]
    if len(found) != 1:
        there = ", ".join(map(one_line, names[:_LONGEST_LIST])) or "none"
        shown = inert(file[:_LONGEST_ASKED])
        return failed(f"the skill {skill.label} has no file {shown!a}; its files: {there}.", skill)
    try:
        said = read_beside(disk, home, found[0], MOST_BYTES)
    except StoreError as error:
        return failed(str(error), skill, files)
    label = one_line(skill.label)
    head = f"`{one_line(found[0])}` of the skill `{label}`, which {_WHOSE[skill.scope]}:"
    text = "\n\n".join(filter(None, [f"({note})" if note else "", head, _clean(said)]))
    return RecalledSkill(skill.label, skill.scope, text, files, note)


def failed(
    reason: str, skill: Skill | None = None, files: tuple[Beside, ...] = ()
) -> RecalledSkill:
    """Return the answer to what could not be read."""
    text = one_line(redact(reason))
    label, scope = (skill.label, skill.scope) if skill else ("", "")
    return RecalledSkill(label, scope, text, files, text, is_error=True)


def _clean(text: str) -> str:
    """Return a text of a skill without secrets, and with nothing in it that acts or hides."""
    return inert(redact(text))


def _size(size: int) -> str:
    kilobyte = 1024
    return f"{size} bytes" if size < kilobyte else f"{size / kilobyte:.0f} KB"
