"""What is wrong with memory as it stands in the index of git: before a commit, not after it.

Promises: looks at what would be committed, never at the work tree, and writes nothing; finds every
scope below the top of the work tree, and what of it is not for git; a secret is never repeated.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.cortex.checkup import check_form
from engramdown.doctor.findings import Finding, find
from engramdown.errors import GitError
from engramdown.git.repository import Repository, Staged
from engramdown.hippocampus.files import is_for_git
from engramdown.hippocampus.snapshot import decoded, meant
from engramdown.kinds import SOUL, is_name
from engramdown.secrets.redaction import find_secrets
from engramdown.settings import FOLDER
from engramdown.storage.disk import megabytes

__all__ = ["StagedReport", "inspect_staged", "stops"]

_MEMORY: Final = "memory/"
_JOURNAL: Final = "journal/"
# What may be meant, or was there before; the rest must not be committed unseen.
_MAY_PASS: Final = frozenset({"indented-item", "near-heading", "unknown-tick"})


class StagedReport(NamedTuple):
    """What was found in the index.

    Attributes:
        files: How many files of memory, and pages of the journal, are staged.
        findings: What is wrong with them, each with its file relative to the top.
    """

    files: int
    findings: tuple[tuple[str, Finding], ...]


def stops(finding: Finding) -> bool:
    """Whether a commit is to be stopped for it."""
    return finding.level != "note" and finding.code not in _MAY_PASS


def inspect_staged(repository: Repository, home: Path, limit: int) -> StagedReport:
    """Look at what is staged.

    Args:
        repository: Whose index it is.
        home: The folder of the global scope, which may be kept in git too.
        limit: The largest file that is read, in bytes.

    Raises:
        GitError: If the index cannot be read.
    """
    own = _scope_at_top(repository, home)
    scopes: dict[str, dict[str, Staged]] = {}
    for item in repository.staged():
        scope = _scope_of(item.path, own)
        if scope is not None:
            scopes.setdefault(scope, {})[item.path.removeprefix(scope)] = item
    files, found = 0, list[tuple[str, Finding]]()
    for scope, items in scopes.items():
        memory = {name: item for name, item in items.items() if _is_memory(name)}
        files += len(memory)
        findings = [*_strangers(items), *_links(repository, memory)]
        findings += _texts(repository, scope, memory, limit)
        days = {name: item for name, item in items.items() if name.startswith(_JOURNAL)}
        files += len(days)
        findings += _days(repository, days, limit)
        found += [(_path(scope, each), each) for each in findings if each.level != "note"]
    return StagedReport(files, tuple(found))


def _scope_at_top(repository: Repository, home: Path) -> str | None:
    """Return the global scope as the beginning of a path, or the top if that is a scope itself."""
    if repository.top.name == FOLDER:
        return ""
    try:
        folder = repository.relative(home)
    except GitError:
        return None
    return f"{folder}/" if folder else ""


def _scope_of(path: str, own: str | None) -> str | None:
    """Return the scope in which a file stands as the beginning of its path, or ``None``."""
    before, mark, _ = f"/{path}".partition(f"/{FOLDER}/")
    if mark:
        return f"{before}{mark}"[1:]
    return own if own is not None and path.startswith(own) else None


def _is_memory(name: str) -> bool:
    file = name.removeprefix(_MEMORY)
    return file != name and (meant(file) == SOUL or is_name(meant(file)))


def _strangers(names: Iterable[str]) -> list[Finding]:
    return [find((f"../{name}", 0), "not-for-git") for name in names if not is_for_git(name)]


def _links(repository: Repository, memory: Mapping[str, Staged]) -> list[Finding]:
    links = {name: item.blob for name, item in memory.items() if item.is_link}
    targets = repository.contents(links.values())
    return [
        find((name.removeprefix(_MEMORY), 0), "link", target=os.fsdecode(target))
        for name, target in zip(links, targets, strict=True)
    ]


def _texts(
    repository: Repository, scope: str, memory: Mapping[str, Staged], limit: int
) -> list[Finding]:
    """Return what the staged files say wrong, next to the others, which only say their ids."""
    staged = {name for name, item in memory.items() if item.blob and not item.is_link}
    if not staged:
        return []
    indexed = repository.indexed(f"{scope}memory")
    blobs = {name: blob for name, blob in indexed.items() if _is_memory(f"{_MEMORY}{name}")}
    sizes = dict(zip(blobs, repository.sizes(blobs.values()), strict=True))
    small = [name for name, size in sizes.items() if size <= limit]
    data = repository.contents(blobs[name] for name in small)
    texts = {name: decoded(each) or "" for name, each in zip(small, data, strict=True)}
    wanted = {name.removeprefix(_MEMORY) for name in staged}
    found = [
        find((name, 0), "too-large", size=has, limit=most)
        for name in sorted(wanted & {*sizes} - {*small})
        for has, most in [megabytes(sizes[name], limit)]
    ]
    return found + check_form(texts, wanted)


def _days(repository: Repository, days: Mapping[str, Staged], limit: int) -> list[Finding]:
    """Return the secrets on staged pages of the journal, which is a person's to write otherwise."""
    blobs = {name: item.blob for name, item in days.items() if item.blob and not item.is_link}
    sizes = repository.sizes(blobs.values())
    small = [name for name, size in zip(blobs, sizes, strict=True) if size <= limit]
    data = repository.contents(blobs[name] for name in small)
    texts = {name: decoded(each) or "" for name, each in zip(small, data, strict=True)}
    return [
        find((f"../{name}", text.count("\n", 0, secret.start) + 1), "secret", kinds=secret.kind)
        for name, text in texts.items()
        for secret in find_secrets(text)
    ]


def _path(scope: str, finding: Finding) -> str:
    name = finding.file
    return f"{scope}{name[3:] if name.startswith('../') else _MEMORY + name}"
