"""Findings about a skill, by the rules of the Agent Skills standard, and what to do about them.

A finding names the line, what is wrong and what is allowed, and never repeats a secret. A skill
with findings can still be read.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from engramdown.engram import slug
from engramdown.errors import InvalidEngramError, InvalidSkillError
from engramdown.language.characters import hidden_characters
from engramdown.lazy import texts
from engramdown.markdown.front_matter import LONGEST_HEAD, FrontMatter, Key
from engramdown.secrets.redaction import find_secrets, redact

Level = Literal["error", "warning"]

LONGEST_LABEL: Final = 64
LONGEST_DESCRIPTION: Final = 1024
_LONGEST_COMPATIBILITY: Final = 500
_LONGEST_SHOWN: Final = 60
_MOST: Final = 10
_AGAIN: Final = 2
_LABEL: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TEXTS: Final = ("license", "compatibility")
# What is looked at by itself.
_OWN: Final = ("name", "description")
# What others may take no notice of where it has another form.
_FORMS: Final = {
    "allowed-tools": "is not a text of names with spaces between",
    "metadata": "is not a mapping of keys to texts",
}
_LETTERS: Final = "small letters a-z, digits, and single hyphens between them"
_NO_UTF_8: Final = re.compile("[\udc80-\udcff]")

# Other programs still accept a skill with these.
_WARNINGS: Final = frozenset({"form", "secret", "hidden", "no-utf-8", "empty", "kept"})


class Finding(NamedTuple):
    """Something that is wrong with a skill.

    Attributes:
        line: The line, from 1; 0 for the file as a whole.
        code: What kind of thing it is.
        message: What is found there.
        file: The file in the folder of the skill.
    """

    line: int
    code: str
    message: str
    file: str = "SKILL.md"

    @property
    def level(self) -> Level:
        """How bad it is: ``error`` if other programs would not accept the skill."""
        return "warning" if self.code in _WARNINGS else "error"

    @property
    def advice(self) -> str:
        """What a person can do about it."""
        return texts(__file__)[self.code].format(
            letters=_LETTERS, label=LONGEST_LABEL, description=LONGEST_DESCRIPTION
        )


def check(page: FrontMatter, label: str, *, briefly: bool = False) -> list[Finding]:
    """Return what is wrong with a page, kind by kind in the order of the lines.

    Args:
        page: The page.
        label: The name of the folder that it is in.
        briefly: Look for no more than errors, which takes less time.
    """
    found = [*_of_front_matter(page), *(() if briefly else _of_text(page))]
    if page.opening and not page.is_long:
        found += [*_of_keys(page), *_of_name(page, label), *_of_description(page)]
    kinds: dict[str, list[Finding]] = {}
    for each in sorted(found, key=lambda each: each.line):
        kinds.setdefault(each.code, []).append(each)
    # Of one kind so many; the last of them says how many more there are.
    shown: list[Finding] = []
    for kind in kinds.values():
        shown += kind[:_MOST]
        if len(kind) > _MOST:
            more = f"{shown[-1].message}; {len(kind) - _MOST} more like it"
            shown[-1] = shown[-1]._replace(message=more)
    return shown


def check_label(label: str) -> str:
    """Return ``label`` if a skill can be called so.

    Raises:
        InvalidSkillError: If not; the error says why and what is allowed.
    """
    if not _LABEL.fullmatch(label):
        raise InvalidSkillError("label", f"{_shown(label)} is not a label; use {_LETTERS}")
    if len(label) > LONGEST_LABEL:
        reason = f"{_shown(label)} has {len(label)} characters; at most {LONGEST_LABEL} are allowed"
        raise InvalidSkillError("label", reason)
    try:
        slug(label)
    except InvalidEngramError:
        reason = f"{_shown(label)} is the name of a device on Windows; choose another one"
        raise InvalidSkillError("label", reason) from None
    return label


def check_description(text: str) -> str:
    """Return ``text`` without the white space around it, if it can be a description.

    Raises:
        InvalidSkillError: If it is empty, too long, or no text that can be written.
    """
    text = check_text("description", text).strip()
    if not 0 < len(text) <= LONGEST_DESCRIPTION:
        reason = f"has {len(text)} characters; 1 to {LONGEST_DESCRIPTION} are allowed"
        raise InvalidSkillError("description", reason)
    return text


def check_text(field: str, text: str) -> str:
    """Return ``text`` if it can be written as UTF-8.

    Raises:
        InvalidSkillError: If not.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        reason = f"character {error.start} is not UTF-8; pass whole characters"
        raise InvalidSkillError(field, reason) from None
    return text


def _of_front_matter(page: FrontMatter) -> Iterator[Finding]:
    if page.is_open:
        yield Finding(1, "not-closed", "the front matter is not closed")
    elif not page.opening:
        yield Finding(1, "front-matter", "there is no front matter")
    elif page.is_long:
        said = f"the front matter has {len(page.head)} characters, and {LONGEST_HEAD} are read"
        yield Finding(1, "too-long", said)
    for line in page.strangers:
        yield Finding(line, "no-key", "the line is not a key and belongs to none")


def _of_keys(page: FrontMatter) -> Iterator[Finding]:
    """Yield the findings that may concern any key."""
    seen: Counter[str] = Counter()
    for key in page.keys:
        seen[key.name] += 1
        # Well written, but something else than the standard has.
        is_odd = key.value.is_other
        if key.name == "metadata":
            is_odd = bool(key.value.text) and not key.value.problem
        # Something else than a text, and nobody minds.
        may_be_other = key.value.is_other and key.name not in _TEXTS
        if seen[key.name] == _AGAIN:
            yield Finding(key.line, "twice", f"{_shown(key.name)} occurs again")
        elif key.name in _FORMS and is_odd:
            yield Finding(key.line, "form", f"{key.name} {_FORMS[key.name]}")
        elif key.name not in _OWN and key.value.problem and not may_be_other:
            yield _bad_value(key)
    length, key_there = len(page.text("compatibility")), page.find("compatibility")
    if length > _LONGEST_COMPATIBILITY:
        said = f"compatibility has {length} characters of {_LONGEST_COMPATIBILITY}"
        yield Finding(key_there.line if key_there else 1, "value", said)


def _of_name(page: FrontMatter, label: str) -> Iterator[Finding]:
    key, name = page.find("name"), page.text("name")
    if key is None:
        yield Finding(1, "name", "there is no name")
    elif key.value.text is None:
        yield _bad_value(key)
    else:
        try:
            check_label(name)
        except InvalidSkillError as error:
            yield Finding(key.line, "name", str(error).removeprefix("label: "))
            return
        if name != label:
            said = f"name is {_shown(name)} in a folder {_shown(label)}"
            yield Finding(key.line, "other-name", said)


def _of_description(page: FrontMatter) -> Iterator[Finding]:
    key, length = page.find("description"), len(page.text("description"))
    if key is None:
        yield Finding(1, "description", "there is no description")
    elif key.value.problem:
        yield _bad_value(key)
    elif not 0 < length <= LONGEST_DESCRIPTION:
        yield Finding(key.line, "description", f"description has {length} characters")


def _of_text(page: FrontMatter) -> Iterator[Finding]:
    """Yield the findings that concern the whole file."""
    text = page.render()
    ends = [found.start() for found in re.finditer("\n", text)]
    for secret in find_secrets(text):
        yield Finding(bisect(ends, secret.start) + 1, "secret", f"there is a {secret.kind}")
    lines: dict[int, list[str]] = {}
    for offset, name in hidden_characters(_NO_UTF_8.sub("?", text)):
        lines.setdefault(bisect(ends, offset) + 1, []).append(name)
    for line, names in lines.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield Finding(line, "hidden", f"there is a hidden character: {names[0]}{more}")
    found = _NO_UTF_8.search(text)
    if found is not None:
        yield Finding(bisect(ends, found.start()) + 1, "no-utf-8", "some bytes are not UTF-8")
    if not page.body.strip() and not page.is_open:
        yield Finding(page.body_line, "empty", "there is nothing below the front matter")


def _bad_value(key: Key) -> Finding:
    return Finding(key.line, "value", f"{key.name} {key.value.problem}")


def _shown(value: str) -> str:
    """Return a value without secrets, and shortened."""
    # Hidden before it is cut: a piece of a secret does not look like one.
    value = redact(value)
    return f"{value if len(value) <= _LONGEST_SHOWN else value[:_LONGEST_SHOWN] + '…'!r}"


# ---- which skill is meant by words that are nearly its label ----

_NO_LETTER: Final = re.compile(r"[^a-z0-9]+")
_NEAR: Final = 0.75
_WORD: Final = 3


def label_of(text: str) -> str:
    """Return a text as a label is written: small letters and digits, hyphens for what is between.

    >>> label_of("  Release_Notes "), label_of("Änderungen"), label_of("???")
    ('release-notes', 'anderungen', '')
    """
    import unicodedata

    plain = unicodedata.normalize("NFKD", text[: 4 * LONGEST_LABEL]).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return _NO_LETTER.sub("-", plain).strip("-")[:LONGEST_LABEL].strip("-")


def meant(text: str, labels: Iterable[str]) -> str:
    """Return the one of ``labels`` that is meant, or ``""``.

    A label is meant by itself, by another spelling of it, and by words that no other label has all
    of, or is like. Only the first few characters of a text are looked at.

    >>> meant("Release Notes", ["charts", "release-notes"]), meant("maps", ["charts"])
    ('release-notes', '')
    """
    known = set(labels)
    if text in known:
        return text
    asked = label_of(text)
    # How each is written; those that are the same but for hyphens, or have all the words asked for.
    plain = {label: label_of(label) for label in known}
    words = set(asked.split("-"))
    same = [each for each in known if plain[each].replace("-", "") == asked.replace("-", "")]
    if len(asked) >= _WORD and not same:
        same = [each for each in known if words <= set(plain[each].split("-"))]
    if asked and not same:
        # Imported here: hardly ever is it needed.
        from difflib import get_close_matches

        near = get_close_matches(asked, plain.values(), cutoff=_NEAR)
        same = [each for each in known if plain[each] in near]
    return same[0] if asked and len(same) == 1 else ""
