"""Where scopes live, and what a configuration may say.

Reading settings creates nothing; a wrong value is an error that names the file (or the environment
variable), the key and what is allowed; nothing is read at import.

What is an argument or in the environment is the person's and wins. Of the two ``config.toml`` the
one of the project may have been cloned: :data:`SETTINGS` says of every setting which values it may
have, and what a project may change about it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

from engramdown.errors import SettingsError

Mode = Literal["autopilot", "copilot", "off"]
Durability = Literal["full", "fast"]

FOLDER: Final = ".engramdown"
CONFIG: Final = "config.toml"
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
LOCK_TIMEOUT: Final = 10.0
"""Seconds that a writer waits for a lock at most, unless it is told otherwise."""
_MEGABYTE: Final = 1024 * 1024
_LARGEST_CONFIG: Final = 1024 * 1024
_AT_HOME: Final = "may only stand in the config.toml of the global scope"
# Not safe_open: a config.toml may be a link, as people who keep dotfiles have it.
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class ConsolidationSettings(NamedTuple):
    """What can be set about offline work on memory, in the table ``[consolidation]``.

    Attributes:
        model: The language model, ``provider/name``; ``""`` for none.
        base_url: Where a server of that protocol listens, if it is not the provider's own.
        timeout: How long one call may take, in seconds.
        retries: How many calls for one answer may fail before it is given up.
        max_tokens: The ceiling of an answer, in tokens.
        calls_per_run: How many calls one run may make.
        tokens_per_run: How many tokens one run may cost.
        window_hours: How long the window is in which calls and tokens are counted, too.
        calls_per_window: How many calls may be made in it.
        tokens_per_window: How many tokens may be spent in it.
        threshold: From how many entries on a file is compacted.
        learn_from_errors: Whether the end of a turn looks for what went wrong in it.
        identity_every: After so many messages of a user facts about them are looked for; 0 is
            never.
        extract_facts: Whether the background worker asks for facts in conversations.
        at_session_end: Whether a hook that ends a session lets a process of its own sleep.
    """

    model: str = ""
    base_url: str = ""
    timeout: float = 60
    retries: int = 2
    max_tokens: int = 4096
    calls_per_run: int = 30
    tokens_per_run: int = 200_000
    window_hours: float = 24
    calls_per_window: int = 200
    tokens_per_window: int = 1_000_000
    threshold: int = 20
    learn_from_errors: bool = True
    identity_every: int = 5
    extract_facts: bool = False
    at_session_end: bool = True


class ConversationSettings(NamedTuple):
    """What can be set about running conversations, in the table ``[conversation]``.

    Attributes:
        automatic: Whether a conversation whose prompt is put together here is summarised when it is
            time for that.
        max_tokens: What it may cost before it is; 0 is the default, -1 is never of its own accord.
        share: Of the budget of a prompt, what it may fill before it is; more than 0, at most 1.
        max_messages: How many of its messages no summary must cover for that; 0 is any number.
        fresh_tail: How many of the newest messages are never summarised.
    """

    automatic: bool = True
    max_tokens: int = 80_000
    share: float = 0.75
    max_messages: int = 30
    fresh_tail: int = 20


class EpisodeSettings(NamedTuple):
    """What can be set about transcripts, in the table ``[episodes]``.

    Attributes:
        enabled: Whether anything is recorded; ``ENGRAMDOWN_EPISODES`` wins.
        payloads: Whether the whole of a text that a line shows cut is kept (``keep``) or not
            (``drop``).
        input_limit: Code points of a tool's input that a line shows.
        output_limit: Code points of a tool's output, or of a scratchpad, that a line shows.
        durability: ``full`` survives a power cut; ``fast`` only a crash of the program.
        redact: Where secrets are hidden before anything is written: in what tools were given and
            gave back (``tools``), everywhere (``all``), nowhere (``off``, in the global scope).
        ignore: Sessions that are not recorded: their ids, where ``*`` and ``?`` stand for anything.
        idle_minutes: Silence after which a session counts as ended; 0 for never.
        gap_minutes: Silence that ends the surroundings of what recall found.
        around: Episodes on each side of it at most.
        around_hours: Time on each side of it at most.
        shown: Episodes on each side of it that are shown.
        history: Whether a model is reminded of earlier sessions.
        history_tokens: What that may cost.
        embedder: What finds transcripts by their meaning, too; ``""`` for nothing. Only the global
            scope may say so, because it is sent what was said.
        embedder_timeout: How long a recall may wait for it, in seconds.
    """

    enabled: bool = True
    payloads: Literal["keep", "drop"] = "keep"
    input_limit: int = 500
    output_limit: int = 2000
    durability: Durability = "fast"
    redact: Literal["all", "tools", "off"] = "all"
    ignore: tuple[str, ...] = ()
    idle_minutes: float = 0
    gap_minutes: float = 10
    around: int = 50
    around_hours: float = 1
    shown: int = 5
    history: bool = False
    history_tokens: int = 4000
    embedder: str = ""
    embedder_timeout: float = 10


class WorkerSettings(NamedTuple):
    """What can be set about the background worker, in the table ``[worker]``.

    Only the global scope may say anything of it: the worker is the person's, and what it spends is
    theirs.

    Attributes:
        every: How many seconds lie between the end of a round and the next.
        timeout: How long one call about a session may take, in seconds; never longer than what
            holds for every call.
        pause: How many seconds lie between two calls.
        batch: About how many sessions of each kind a model is asked in one round.
        attempts: How often a session is tried whose answers are of no use.
        idle_minutes: Silence after which an open conversation is summarised; 0 is never.
        idle_messages: How many of its messages no summary must cover for that.
    """

    every: float = 300
    timeout: float = 60
    pause: float = 5
    batch: int = 10
    attempts: int = 5
    idle_minutes: float = 30
    idle_messages: int = 5


class Overruled(NamedTuple):
    """What a project's ``config.toml`` says, and what came of it.

    Attributes:
        key: The setting, with its table: ``episodes.enabled``.
        said: What the project says.
        holds: What holds instead; ``None`` for the default of a section's budget.
        by: Who says otherwise: ``home`` (the global scope, or its default), ``environment`` or
            ``argument``.
    """

    key: str
    said: object
    holds: object
    by: Literal["home", "environment", "argument"]


class Settings(NamedTuple):
    """What can be set.

    Attributes:
        mode: What is written without asking: everything (``autopilot``), what is certain
            (``copilot``), nothing (``off``).
        durability: ``full`` survives a power cut; ``fast`` only a crash of the program.
        lock_timeout: How long to wait for another writer, in seconds.
        max_file_mb: The largest memory file that is read, in megabytes.
        timezone: The IANA name of the zone in which a day of the journal begins; ``""`` for that
            of the system, which counts as well where the name is not known.
        budgets: Tokens for the sections of the memory context that get another number than the
            default.
        pulled: Whether what git brings is loaded and told of (``news``), or waits for a person to
            approve it (``review``); a project can only ask for the latter.
        episodes: What is set about transcripts.
        consolidation: What is set about offline work on memory.
        conversation: What is set about running conversations.
        worker: What is set about the background worker.
        at_home: What holds for the files of the global scope where the project says otherwise, by
            the name of the setting; see :meth:`of`.
        overruled: What the project says and does not hold.
        switched_off: What the project switches off that would be on: the name of the setting, and
            what the project says.
        trouble: Why the settings of the project could not be read, or ``""``; the strictest hold
            then, see :func:`load_or_strictest`.
    """

    mode: Mode = "autopilot"
    durability: Durability = "full"
    lock_timeout: float = LOCK_TIMEOUT
    max_file_mb: float = 16.0
    timezone: str = ""
    budgets: Mapping[str, int] = {}
    pulled: Literal["news", "review"] = "news"
    episodes: EpisodeSettings = EpisodeSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    conversation: ConversationSettings = ConversationSettings()
    worker: WorkerSettings = WorkerSettings()
    at_home: Mapping[str, Any] = {}
    overruled: tuple[Overruled, ...] = ()
    switched_off: tuple[tuple[str, object], ...] = ()
    trouble: str = ""

    @property
    def max_file_bytes(self) -> int:
        """The largest memory file that is read, in bytes."""
        return int(self.max_file_mb * _MEGABYTE)

    def stopped(self) -> list[str]:
        """Return what the project switches off, in words, each with the name of the setting."""
        return [f"{SETTINGS[key].does} ({key})" for key, _ in self.switched_off]

    def of(self, scope: str) -> Settings:
        """Return what holds for the files of a scope.

        Args:
            scope: ``global`` or ``project``. What a project says about files is about its own.

        >>> Settings(lock_timeout=1.0, at_home={"lock_timeout": 10.0}).of("global").lock_timeout
        10.0
        """
        found = self
        for key, value in self.at_home.items() if scope == "global" else ():
            name, _, inner = key.partition(".")
            held = getattr(found, name)._replace(**{inner: value}) if inner else value
            found = found._replace(**{name: held})
        return found


# ---- what one value may be ----

Check = Callable[[str, str, Any], Any]
"""Is given the source, the key and the value; returns the value as it is used."""

_ADDRESS: Final = re.compile(r"https?://[^\s/]+(?:/\S*)?\Z")
# More seconds, or more megabytes, nobody means.
_LARGEST: Final = 1_000_000
_MOST_TOKENS: Final = 100_000_000


def _check(
    is_right: Callable[[Any], bool],
    allowed: str,
    use: Callable[[Any], Any] = lambda value: value,
    *,
    is_shown: bool = True,
) -> Check:
    """Return a check.

    Args:
        is_right: Whether a value may be so.
        allowed: What is allowed, in words.
        use: Returns the value as it is used.
        is_shown: Whether a wrong value is repeated to the person.
    """

    def check(source: str, key: str, value: object) -> Any:  # noqa: ANN401 - whatever TOML holds
        if not is_right(value):
            shown = f"{value!r} is not" if is_shown else "is not"
            raise SettingsError(source, key, f"{shown} {allowed}")
        return use(value)

    return check


def _is_whole(value: object, least: int, most: float = float("inf")) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _word(*allowed: str) -> Check:
    return _check(lambda value: value in allowed, f"one of {', '.join(allowed)}")


def _is_model(value: object, kinds: tuple[str, ...] = (), mark: str = "/") -> bool:
    """Whether a value is a model with its kind or provider before it, or nothing."""
    kind, _, model = value.partition(mark) if isinstance(value, str) else ("", "", "")
    named = kind in kinds if kinds else bool(kind.strip())
    return value == "" or (named and bool(model.strip()))


_SWITCH: Final = _word("on", "off")
_BOOLEAN: Final = _check(lambda value: isinstance(value, bool), "true or false")
_TEXT: Final = _check(lambda value: isinstance(value, str), "a text in quotes")
_COUNT: Final = _check(
    lambda value: _is_whole(value, 0, _LARGEST), f"a whole number, 0 to {_LARGEST:,}"
)
_TOKENS: Final = _check(lambda value: _is_whole(value, 0), "a number of tokens, 0 or more")
_AMOUNT: Final = _check(
    lambda value: _is_number(value) and 0 <= value <= _LARGEST,
    f"a number, 0 to {_LARGEST:,}",
    float,
)
_POSITIVE: Final = _check(
    lambda value: _is_number(value) and 0 < value <= _LARGEST,
    f"a number above 0, up to {_LARGEST:,}",
    float,
)
_SHARE: Final = _check(
    lambda value: _is_number(value) and 0 < value <= 1, "more than 0 and at most 1", float
)
_LIMIT: Final = _check(
    lambda value: _is_whole(value, -1, _MOST_TOKENS),
    f"a whole number up to {_MOST_TOKENS:,}, 0 for the default or -1 for never",
    lambda value: value or ConversationSettings().max_tokens,
)
_MODEL: Final = _check(_is_model, "PROVIDER/MODEL, like openai/gpt-4.1-mini or ollama/qwen3")
_EMBEDDERS: Final = ("openai", "fastembed", "sentence-transformers")
_EMBEDDER: Final = _check(
    lambda value: _is_model(value, _EMBEDDERS, ":"),
    f"one of {', '.join(f'{kind}:MODEL' for kind in _EMBEDDERS)}",
)
_WEB_ADDRESS: Final = _check(
    lambda value: isinstance(value, str) and (not value or bool(_ADDRESS.match(value))),
    "an address like http://localhost:8080/v1",
    is_shown=False,
)
_PATTERNS: Final = _check(
    lambda value: isinstance(value, list) and all(isinstance(each, str) and each for each in value),
    'a list like ["cron-*"]',
    tuple,
)

# ---- what a project may change ----


def _theirs(_: object, said: object) -> Any:  # noqa: ANN401 - whatever a setting can be
    return said


def _first_of(*ranked: str) -> Callable[[str, str], str]:
    """Return what chooses the one of two words that stands first in a list."""
    return lambda mine, said: min(mine, said, key=ranked.index)


def _both(mine: tuple[str, ...], said: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*mine, *said]))


def _rarer(mine: int, said: int) -> int:
    """Return how seldom something is done; 0 is never."""
    return 0 if 0 in (mine, said) else max(mine, said)


def _unless_never(mine: int, said: int) -> int:
    """Return what a project says, unless home says that it is never done."""
    return mine if mine < 0 else said


class Setting(NamedTuple):
    """A setting: what it may be, and what the ``config.toml`` of a project may change about it.

    Attributes:
        check: Checks a value.
        who: ``stricter``: the stricter of home and project counts. ``home``: only the global scope
            says it, and what a project says is passed over. ``refused``: the same, and what a
            project says is an error. ``scope``: each scope says it about its own files.
            ``project``: the project wins.
        join: Given what holds at home and what a project says, returns what counts.
        does: What a value may switch off that a person may expect to be on, in words.
        is_off: Whether a value does that.
    """

    check: Check
    who: Literal["stricter", "home", "refused", "scope", "project"]
    join: Callable[[Any, Any], Any] = _theirs
    does: str = ""
    is_off: Callable[[Any], bool] = lambda value: not value

    def held(self, usual: object, said: object) -> Any:  # noqa: ANN401 - whatever it can be
        """Return what counts when ``usual`` holds at home and a project ``said`` something."""
        return usual if self.who == "home" else self.join(usual, said)

    def counts(self, said: object, holds: object) -> bool:
        """Whether what a project ``said`` is part of what ``holds``."""
        if isinstance(said, tuple) and isinstance(holds, tuple):
            return set(said) <= set(holds)
        return said == holds

    def stops(self, said: object, mine: object) -> bool:
        """Whether what a project ``said`` switches off what is on at home."""
        if isinstance(said, tuple) and isinstance(mine, tuple):
            return not set(said) <= set(mine)
        return bool(self.does) and self.is_off(said) and not self.is_off(mine)


def _asking(check: Check) -> Setting:
    """Return a limit on questions to a model: the lower one counts, and 0 asks none."""
    return Setting(check, "stricter", min, "asking a language model")


def _if_both(does: str) -> Setting:
    """Return a switch for what is on only if home and project say so."""
    return Setting(_BOOLEAN, "stricter", min, does)


SETTINGS: Final[Mapping[str, Setting]] = {
    "mode": Setting(
        _word(*MODES),
        "stricter",
        _first_of("off", "copilot", "autopilot"),
        "writing memory",
        lambda said: bool(said == "off"),
    ),
    "durability": Setting(_word(*get_args(Durability)), "scope"),
    "lock_timeout": Setting(_POSITIVE, "scope"),
    "max_file_mb": Setting(_POSITIVE, "scope", min),
    "timezone": Setting(_TEXT, "scope"),
    "pulled": Setting(_word("news", "review"), "stricter", _first_of("review", "news")),
    # What is for all projects, or partly, is shown as the person wants it.
    "budgets.identity": Setting(_TOKENS, "home"),
    "budgets.global_rules": Setting(_TOKENS, "home"),
    "budgets.project_rules": Setting(_TOKENS, "project"),
    "budgets.global_lessons": Setting(_TOKENS, "home"),
    "budgets.project_lessons": Setting(_TOKENS, "project"),
    "budgets.skills": Setting(_TOKENS, "home"),
    "budgets.scratchpad": Setting(_TOKENS, "home"),
    "episodes.enabled": _if_both("recording"),
    "episodes.payloads": Setting(
        _word("keep", "drop"),
        "stricter",
        _first_of("drop", "keep"),
        "keeping what a transcript shows cut",
        lambda said: bool(said == "drop"),
    ),
    "episodes.input_limit": Setting(_COUNT, "stricter", min),
    "episodes.output_limit": Setting(_COUNT, "stricter", min),
    "episodes.durability": Setting(_word(*get_args(Durability)), "scope"),
    "episodes.redact": Setting(
        _word("all", "tools", "off"), "stricter", _first_of("all", "tools", "off")
    ),
    "episodes.ignore": Setting(_PATTERNS, "stricter", _both, "recording of some sessions"),
    "episodes.idle_minutes": Setting(_AMOUNT, "scope"),
    "episodes.gap_minutes": Setting(_AMOUNT, "project"),
    "episodes.around": Setting(_COUNT, "project"),
    "episodes.around_hours": Setting(_AMOUNT, "project"),
    "episodes.shown": Setting(_COUNT, "project"),
    "episodes.history": _if_both("telling of earlier sessions"),
    "episodes.history_tokens": Setting(_TOKENS, "stricter", min),
    "episodes.embedder": Setting(_EMBEDDER, "refused"),
    "episodes.embedder_timeout": Setting(_POSITIVE, "stricter", min),
    "consolidation.model": Setting(_MODEL, "refused"),
    "consolidation.base_url": Setting(_WEB_ADDRESS, "refused"),
    "consolidation.timeout": Setting(_POSITIVE, "stricter", min),
    "consolidation.retries": Setting(_COUNT, "stricter", min),
    "consolidation.max_tokens": _asking(_COUNT),
    "consolidation.calls_per_run": _asking(_COUNT),
    "consolidation.tokens_per_run": _asking(_TOKENS),
    "consolidation.window_hours": Setting(_AMOUNT, "refused"),
    "consolidation.calls_per_window": _asking(_COUNT),
    "consolidation.tokens_per_window": _asking(_TOKENS),
    "consolidation.threshold": Setting(_COUNT, "scope"),
    "consolidation.learn_from_errors": _if_both("learning from errors"),
    "consolidation.identity_every": Setting(
        _COUNT, "stricter", _rarer, "learning facts about the user"
    ),
    "consolidation.extract_facts": _if_both("looking for facts in conversations"),
    "consolidation.at_session_end": _if_both("learning when a session ends"),
    "conversation.automatic": _if_both("summarising conversations"),
    "conversation.max_tokens": Setting(
        _LIMIT,
        "project",
        _unless_never,
        "summarising conversations by size",
        lambda said: bool(said < 0),
    ),
    "conversation.share": Setting(_SHARE, "project"),
    "conversation.max_messages": Setting(_COUNT, "project"),
    "conversation.fresh_tail": Setting(_COUNT, "project"),
    "worker.every": Setting(_POSITIVE, "refused"),
    "worker.timeout": Setting(_POSITIVE, "refused"),
    "worker.pause": Setting(_AMOUNT, "refused"),
    "worker.batch": Setting(_COUNT, "refused"),
    "worker.attempts": Setting(_COUNT, "refused"),
    "worker.idle_minutes": Setting(_AMOUNT, "refused"),
    "worker.idle_messages": Setting(_COUNT, "refused"),
}
"""Every setting that there is, in the order in which they are told."""
_TABLES: Final = ("budgets", "episodes", "consolidation", "conversation", "worker")


# ---- where scopes are ----


class Places(NamedTuple):
    """Where the scopes are.

    Attributes:
        home: The folder of the global scope.
        project: The ``.engramdown`` folder of the project; it need not exist.
        closed: Why nothing can be written to the project, or ``""``.
    """

    home: Path
    project: Path
    closed: str = ""


def find_places(project: Path | str | None = None, home: Path | str | None = None) -> Places:
    """Return where the scopes are, for whoever stands in the working directory.

    Args:
        project: A project's folder, or its ``.engramdown``; by default the nearest one above the
            working directory, or one that begins right there.
        home: The folder of the global scope; by default :func:`global_home`.

    Raises:
        SettingsError: If a folder is a link that leaves the project, or is that of both scopes.
    """
    place = global_home() if home is None else _absolute(home)
    start = Path.cwd()
    if project is not None:
        folder = scope_folder(project)
        if _real(folder) == _real(place):
            reason = f"{folder} is the folder of the global scope; pass the folder of a project"
            raise SettingsError("argument", "project", reason)
        return Places(place, folder)
    found = find_project(start, place)
    if found is not None:
        return Places(place, found)
    folder = scope_folder(start)
    if _real(folder) not in _taken(place):
        return Places(place, folder)
    reason = f"{start}: is no project; change to the folder of one, or use the global scope"
    return Places(place, folder / FOLDER, reason)


def global_home() -> Path:
    """Return the folder of the global scope: ``ENGRAMDOWN_HOME``, or ``~/.engramdown``.

    Raises:
        SettingsError: If neither the variable nor a home directory is set.
    """
    moved = os.environ.get("ENGRAMDOWN_HOME", "")
    if moved:
        return _absolute(moved, "environment variable ENGRAMDOWN_HOME")
    try:
        return Path.home() / FOLDER
    except RuntimeError:
        reason = "no home directory is known; set it to the folder of the global scope"
        raise SettingsError("environment", "ENGRAMDOWN_HOME", reason) from None


def scope_folder(place: Path | str) -> Path:
    """Return the ``.engramdown`` folder of a project, given the project's folder or itself.

    Raises:
        SettingsError: If the folder is a link that leaves the project.
    """
    path = _absolute(place)
    return _checked_link(path if path.name == FOLDER else path / FOLDER)


def find_project(start: Path | str, home: Path | None = None) -> Path | None:
    """Return the nearest ``.engramdown`` folder from ``start`` upwards, as git finds ``.git``.

    The folder of the global scope is not a project, wherever it was moved to: neither ``home``,
    nor what ``ENGRAMDOWN_HOME`` says, nor ``~/.engramdown``.

    Raises:
        SettingsError: If the folder is a link that leaves the project.
    """
    path = _absolute(start)
    taken = _taken(home)
    for folder in (path, *path.parents):
        found = folder if folder.name == FOLDER else folder / FOLDER
        # Not Path.is_dir, which raises where a folder may not be looked into.
        is_there = os.path.isdir(found) or _is_in_the_way(found)  # noqa: PTH112 - as said above
        if is_there and _real(found) not in taken:
            return _checked_link(found)
    return None


def _is_in_the_way(path: Path) -> bool:
    """Whether something stands in the place of a scope that is none: a file, a link to itself.

    It is the scope's folder that cannot be read then, not a place where none is.
    """
    try:
        os.stat(path)  # noqa: PTH116 - as os.path.isdir
    except OSError as error:
        return error.errno == errno.ELOOP
    return True


# ---- reading ----


def load(home: Path, project: Path | None, mode: str | None = None) -> Settings:
    """Read the settings that hold for a project.

    Args:
        home: The folder of the global scope.
        project: The ``.engramdown`` folder of the project, or ``None``.
        mode: The mode that an argument asks for, or ``None``.

    Raises:
        SettingsError: If a value is unknown or wrong, or one that a project may not give.
    """
    mine = _said(home / CONFIG)
    theirs = {} if project is None or project == home else _said(project / CONFIG)
    if project is not None:
        try:
            _refuse_foreign(project / CONFIG, theirs)
        except SettingsError as error:
            path = project / CONFIG
            raise _at_line(error, path, config_text(path)) from None
    usual = {key: mine.get(key, _default(key)) for key in theirs}
    values = mine | {key: SETTINGS[key].held(usual[key], said) for key, said in theirs.items()}
    by: dict[str, Literal["environment", "argument"]] = {}
    variable = os.environ.get("ENGRAMDOWN_MODE", "")
    if variable:
        source = "environment variable ENGRAMDOWN_MODE"
        values["mode"] = SETTINGS["mode"].check(source, "mode", variable)
        by["mode"] = "environment"
    if mode is not None:
        values["mode"] = SETTINGS["mode"].check("argument", "mode", mode)
        by["mode"] = "argument"
    for key, name in _SWITCHES.items():
        if (switched := _switched(name)) is not None:
            values[key] = switched
            by[key] = "environment"
    return _settings(values)._replace(
        at_home={
            key: held
            for key, held in usual.items()
            if SETTINGS[key].who == "scope" and values[key] != held
        },
        overruled=tuple(
            Overruled(key, said, values[key], by.get(key, "home"))
            for key, said in theirs.items()
            if not SETTINGS[key].counts(said, values[key])
        ),
        switched_off=tuple(
            (key, said)
            for key, said in theirs.items()
            if SETTINGS[key].counts(said, values[key]) and SETTINGS[key].stops(said, usual[key])
        ),
    )


def strictest(home: Path) -> Settings:
    """Return what holds where the settings of a project cannot be read.

    It may have asked for anything: nothing is written, recorded or learned, and what git brought
    waits. What is set at home holds besides.

    Raises:
        SettingsError: If what is set at home is wrong, too.
    """
    found = load(home, None, "off")
    episodes = found.episodes._replace(enabled=False)
    return found._replace(pulled="review", episodes=episodes)


def load_or_strictest(home: Path, project: Path | None, mode: str | None = None) -> Settings:
    """Return what :func:`load` does, or the strictest if the project's ``config.toml`` is broken.

    Whoever broke it must not take away what can be read; ``trouble`` says what is wrong.

    Raises:
        SettingsError: If a setting is wrong that is no project's.
    """
    try:
        return load(home, project, mode)
    except SettingsError as error:
        if project is None or project == home or error.source != str(project / CONFIG):
            raise
        return strictest(home)._replace(trouble=str(error))


def named(folder: Path) -> list[str]:
    """Return the settings that the ``config.toml`` in a folder names: ``episodes.enabled``.

    Raises:
        SettingsError: If it cannot be read, or says what is wrong.
    """
    return list(_said(folder / CONFIG))


def episode_settings(said: Mapping[str, Any] = MappingProxyType({})) -> EpisodeSettings:
    """Return what holds for transcripts: what is ``said``, but for what the environment says.

    Raises:
        SettingsError: If ``ENGRAMDOWN_EPISODES`` is neither on nor off.
    """
    recorded = _switched(_SWITCHES["episodes.enabled"])
    return EpisodeSettings(**said if recorded is None else {**said, "enabled": recorded})


_SWITCHES: Final = {
    "episodes.enabled": "ENGRAMDOWN_EPISODES",
    "consolidation.at_session_end": "ENGRAMDOWN_AT_SESSION_END",
}
"""The settings that the environment switches on or off, and the variables that do."""


def _switched(name: str) -> bool | None:
    """Return whether the environment says yes or no to what ``name`` is about."""
    said = os.environ.get(name, "")
    short = name.removeprefix("ENGRAMDOWN_").lower()
    if not said:
        return None
    return bool(_SWITCH(f"environment variable {name}", short, said.lower()) == "on")


def _absolute(place: Path | str, source: str = "argument") -> Path:
    try:
        return Path(place).expanduser().absolute()
    except RuntimeError:
        reason = "no home directory of that name is known; give the whole path"
        raise SettingsError(source, str(place), reason) from None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _taken(home: Path | None) -> set[Path]:
    """Return the folders that are or were of the global scope."""
    folders = [global_home()] if home is None else [home, global_home()]
    with contextlib.suppress(RuntimeError):
        folders.append(Path.home() / FOLDER)
    return {_real(folder) for folder in folders}


def _checked_link(folder: Path) -> Path:
    if not _real(folder).is_relative_to(_real(folder.parent)):
        reason = "is a link that leaves the project; put the folder itself there"
        raise SettingsError(str(folder), FOLDER, reason)
    return folder


def _said(path: Path) -> dict[str, Any]:
    """Return what a file of settings says, each by its name with that of its table."""
    text = config_text(path)
    if not text:
        return {}
    # Imported here: most scopes have no such file.
    import tomllib

    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a list 1,000 deep
        raise SettingsError(str(path), "file", f"is not TOML: {error}") from error
    values: dict[str, Any] = {}
    for key, value in found.items():
        try:
            values |= _checked(str(path), key, value)
        except SettingsError as error:
            raise _at_line(error, path, text) from None
    return values


def _refuse_foreign(path: Path, said: Mapping[str, Any]) -> None:
    """Refuse what a project must not say, which may have been cloned.

    That is where memory is sent, and that secrets in transcripts stay as they are.
    """
    for key, value in said.items():
        if SETTINGS[key].who == "refused" or (key, value) == ("episodes.redact", "off"):
            raise SettingsError(str(path), key, _AT_HOME)


def _at_line(error: SettingsError, path: Path, text: str) -> SettingsError:
    """Return an error that says in which line of a file the setting stands, if that is plain."""
    heading = ""
    for number, line in enumerate(text.split("\n"), 1):
        row = "".join(line.partition("=")[0].split()).translate({34: "", 39: ""})
        if row.startswith("["):
            heading = row.strip("[]") + "."
        # A whole table may stand in one line.
        found = heading.removesuffix(".") if row.startswith("[") else heading + row
        inside = f"{error.key}.".startswith(f"{found}.") and "=" in line
        if row and (found == error.key or inside or found.startswith(f"{error.key}.")):
            reason = str(error).removeprefix(f"{path}: {error.key}: ")
            return SettingsError(str(path), error.key, f"{reason} (at line {number})")
    return error


def _settings(values: Mapping[str, Any]) -> Settings:
    """Return settings; what is said of none of them is as usual."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
    single: dict[str, Any] = {}
    for key, value in values.items():
        name, _, inner = key.partition(".")
        if not inner:
            single[name] = value
        elif value is not None:
            tables[name][inner] = value
    return Settings(
        budgets=tables["budgets"],
        episodes=EpisodeSettings(**tables["episodes"]),
        consolidation=ConsolidationSettings(**tables["consolidation"]),
        conversation=ConversationSettings(**tables["conversation"]),
        worker=WorkerSettings(**tables["worker"]),
        **single,
    )


def _default(key: str) -> Any:  # noqa: ANN401 - whatever a setting can be
    """Return what holds if nobody says anything; of the budget of a section ``None``."""
    name, _, inner = key.partition(".")
    usual = getattr(Settings(), name)
    if name == "budgets":
        return None
    return getattr(usual, inner) if inner else usual


def config_text(path: Path) -> str:
    """Return the text of a configuration file, or ``""`` if there is none.

    Raises:
        SettingsError: If it cannot be read, is no file, too large or not UTF-8.
    """
    try:
        descriptor = os.open(path, _READ)
        try:
            _check_file(path, os.fstat(descriptor))
            # Some editors begin a file of UTF-8 with a mark.
            return os.read(descriptor, _LARGEST_CONFIG).decode("utf-8-sig")
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return ""
    except NotADirectoryError:
        return ""  # Who reads memory there says so.
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        reason = f"is not TOML: {error.reason}, not UTF-8 (at line {line})"
        raise SettingsError(str(path), "file", reason) from error
    except OSError as error:
        if error.errno == errno.ELOOP and not os.path.isdir(path.parent):  # noqa: PTH112 - as above
            return ""
        raise SettingsError(str(path), "file", f"cannot be read: {error.strerror}") from error


def _check_file(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SettingsError(str(path), "file", "is not a regular file; move it away")
    if found.st_size > _LARGEST_CONFIG:
        raise SettingsError(str(path), "file", f"is larger than {_LARGEST_CONFIG} bytes")


def _checked(source: str, key: str, value: object) -> dict[str, Any]:
    """Return what a key of a file says, each setting by its name with that of its table."""
    if key in _TABLES:
        if not isinstance(value, dict):
            raise SettingsError(source, key, f"{value!r} is not a table like [{key}]")
        keys = [name for name in SETTINGS if name.startswith(f"{key}.")]
        said = {f"{key}.{name}": each for name, each in value.items()}
        what = "section" if key == "budgets" else "setting"
    else:
        keys = [*(name for name in SETTINGS if "." not in name), *_TABLES]
        said, what = {key: value}, "setting"
    for name in said:
        if name not in keys:
            allowed = ", ".join(name.rpartition(".")[2] for name in keys)
            raise SettingsError(source, name, f"is no {what}; allowed are {allowed}")
    return {name: SETTINGS[name].check(source, name, each) for name, each in said.items()}
