"""Opens the journal of a scope for a command.

Promises: starts no scope; what cannot be swept up, and a zone that is none, is said on stderr and
stops nobody.
"""

from __future__ import annotations

from pathlib import Path

from engramdown.cli import output
from engramdown.cli.opening import project_of, settings_at
from engramdown.cli.process import Place
from engramdown.cli.scopes import meant, roots
from engramdown.engram import Scope
from engramdown.errors import StoreError
from engramdown.journal.journal import Journal
from engramdown.settings import Settings
from engramdown.storage.disk import Disk


def one_journal(place: Place, scope: Scope | None) -> Journal:
    """Return the journal of a scope: by default the project's, or else the global one.

    Raises:
        click.ClickException: There is no such scope.
    """
    return _opened(place, *meant(place, scope))


def all_journals(place: Place, scope: Scope | None) -> list[Journal]:
    """Return the journals of a scope, or of all that there are, the project's first."""
    found = [meant(place, scope)] if scope else roots(place)
    return [_opened(place, *each) for each in found]


def settings_of(place: Place, scope: Scope, root: Path) -> Settings:
    """Return what is set for a scope, for whoever stands in a project."""
    project = root if scope == "project" else project_of(place)
    return settings_at(place, project).of(scope)


def disk_of(settings: Settings) -> Disk:
    """Return the system calls on the files of a scope."""
    return Disk(durable=settings.durability == "full", limit=settings.max_file_bytes)


def _opened(place: Place, scope: Scope, root: Path) -> Journal:
    settings = settings_of(place, scope, root)
    journal = Journal(
        root,
        zone=settings.timezone,
        disk=disk_of(settings),
        lock_timeout=settings.lock_timeout,
    )
    if journal.clock.notice:
        output.note(journal.clock.notice)
    try:
        journal.tidy()
    except StoreError as error:
        output.note(str(error))
    return journal
