"""Finds the folders of scopes, and reads and checks their configuration.

Reading settings creates nothing; a wrong value is an error that names the file (or the environment
variable), the key and what is allowed; nothing is read at import.

Arguments and environment variables come from the person, and win. The ``config.toml`` of a project
may have been cloned: the table :data:`SETTINGS` has the allowed values of every setting, and what a
project may change about it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from engramdown.errors import SettingsError

Mode = Literal["autopilot", "copilot", "off"]
Durability = Literal["full", "fast"]

FOLDER: Final = ".engramdown"
CONFIG: Final = "config.toml"
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
# Seconds that a writer waits for a lock at most, unless a setting says otherwise.
LOCK_TIMEOUT: Final = 10.0
_MEGABYTE: Final = 1024 * 1024
_LARGEST_CONFIG: Final = 1024 * 1024
_AT_HOME: Final = "may only be in the config.toml of the global scope"
# Not safe_open: a config.toml may be a link, as people who keep dotfiles have it.
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class ConsolidationSettings(NamedTuple):
    """Settings for offline work on memory, the table ``[consolidation]``.

    Attributes:
        model: The language model, ``provider/name``; ``""`` for none.
        base_url: Where a server of that protocol listens, if it is not the provider's own.
        timeout: How long one call may take, in seconds.
        retries: How many calls for one answer may fail before the job gives up.
        max_tokens: The ceiling of an answer, in tokens.
        calls_per_run: How many calls one run may make.
        tokens_per_run: How many tokens one run may cost.
        window_hours: How long the window is in which calls and tokens are counted, too.
        calls_per_window: How many calls may be made in it.
        tokens_per_window: How many tokens may be spent in it.
        threshold: From how many entries on a file is compacted.
        learn_from_errors: Whether the end of a turn looks for what went wrong in it.
        identity_every: After how many messages of a user to look for facts about them; 0 is never.
        extract_facts: Whether the background worker asks for facts in conversations.
        at_session_end: Whether a hook that ends a session starts a process that sleeps.
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
    """Settings for running conversations, the table ``[conversation]``.

    Attributes:
        automatic: Whether a conversation is summarised when it gets too long.
        max_tokens: How many tokens are too long; 0 is the default, -1 never counts tokens.
        share: What share of the budget of a prompt is too long; more than 0, at most 1.
        max_messages: How many messages without a summary there must be; 0 is any number.
        fresh_tail: How many of the newest messages are never summarised.
    """

    automatic: bool = True
    max_tokens: int = 80_000
    share: float = 0.75
    max_messages: int = 30
    fresh_tail: int = 20


class EpisodeSettings(NamedTuple):
    """Settings for transcripts, the table ``[episodes]``.

    Attributes:
        enabled: Whether anything is recorded; ``ENGRAMDOWN_EPISODES`` wins.
        payloads: Whether the whole of a text that a line cuts short is kept: ``keep`` or ``drop``.
        input_limit: Code points of a tool's input that a line shows.
        output_limit: Code points of a tool's output, or of a scratchpad, that a line shows.
        durability: ``full`` survives a power cut; ``fast`` only a crash of the program.
        redact: Where secrets are hidden before anything is written: in the input and output of
            tools (``tools``), everywhere (``all``), nowhere (``off``, in the global scope).
        ignore: The ids of sessions that are not recorded; ``*`` and ``?`` match anything.
        idle_minutes: Silence after which a session counts as ended; 0 for never.
        gap_minutes: Silence that ends the surroundings of a hit of recall.
        around: Episodes on each side of a hit at most.
        around_hours: Time on each side of a hit at most.
        shown: Episodes on each side of a hit that are shown.
        history: Whether a model is reminded of earlier sessions.
        history_tokens: How many tokens that may cost.
        embedder: What also finds transcripts by their meaning; ``""`` for nothing. Only the global
            scope may name one, because it gets the texts.
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
    """Settings for the background worker, the table ``[worker]``.

    Only the global scope may have it: the worker spends the person's money.

    Attributes:
        every: How many seconds lie between the end of a round and the next.
        timeout: How long one call about a session may take, in seconds; at most the time-out of
            ``[consolidation]``.
        pause: How many seconds lie between two calls.
        batch: About how many sessions of each kind a model is asked in one round.
        attempts: How often a session is tried if its answers are useless.
        idle_minutes: Silence after which an open conversation is summarised; 0 is never.
        idle_messages: How many messages without a summary there must be for that.
    """

    every: float = 300
    timeout: float = 60
    pause: float = 5
    batch: int = 10
    attempts: int = 5
    idle_minutes: float = 30
    idle_messages: int = 5


class Overruled(NamedTuple):
    """A value in a project's ``config.toml`` that does not count.

    Attributes:
        key: The setting, with its table: ``episodes.enabled``.
        said: The value of the project.
        holds: The value that counts instead; ``None`` for the default of a section's budget.
        by: Where that comes from: ``home`` (the global scope, or its default), ``environment`` or
            ``argument``.
    """

    key: str
    said: object
    holds: object
    by: Literal["home", "environment", "argument"]


class Settings(NamedTuple):
    """All settings.

    Attributes:
        mode: Which memories are written without asking: all (``autopilot``), the certain ones
            (``copilot``), none (``off``).
        durability: ``full`` survives a power cut; ``fast`` only a crash of the program.
        lock_timeout: How long to wait for another writer, in seconds.
        max_file_mb: The largest memory file that is read, in megabytes.
        timezone: The IANA name of the zone in which a day of the journal begins; ``""``, or an
            unknown name, for the zone of the system.
        budgets: Tokens for the sections of the memory context whose budget is not the default.
        pulled: Whether memory that git brings is loaded and announced (``news``), or waits for a
            person to approve it (``review``); a project can only ask for the latter.
        episodes: Settings for transcripts.
        consolidation: Settings for offline work on memory.
        conversation: Settings for running conversations.
        worker: Settings for the background worker.
        at_home: The values for the files of the global scope where the project has others, by the
            name of the setting; see :meth:`of`.
        overruled: The values of the project that do not count.
        switched_off: What the project switches off that would be on: the name of the setting, and
            the value of the project.
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
        """Describe what the project switches off, each with the name of the setting."""
        return [f"{SETTINGS[key].does} ({key})" for key, _ in self.switched_off]

    def of(self, scope: str) -> Settings:
        """Return the settings for the files of a scope.

        Args:
            scope: ``global`` or ``project``. A project sets what holds for its own files only.

        >>> Settings(lock_timeout=1.0, at_home={"lock_timeout": 10.0}).of("global").lock_timeout
        10.0
        """
        settings = self
        for key, value in self.at_home.items() if scope == "global" else ():
            name, _, inner = key.partition(".")
            table = getattr(settings, name)._replace(**{inner: value}) if inner else value
            settings = settings._replace(**{name: table})
        return settings


# ---- what one value may be ----

# Takes the source, the key and the value; returns the value as it is used.
Check = Callable[[str, str, Any], Any]

_ADDRESS: Final = re.compile(r"https?://[^\s/]+(?:/\S*)?\Z")
# Nobody means more seconds, or more megabytes.
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
        is_right: Whether a value is allowed.
        allowed: What is allowed, in words.
        use: Returns the value as it is used.
        is_shown: Whether the message repeats a wrong value.
    """

    def check(source: str, key: str, value: object) -> Any:  # noqa: ANN401 - whatever TOML holds
        if not is_right(value):
            shown = f"{value!r} is not" if is_shown else "is not"
            raise SettingsError(source, key, f"{shown} {allowed}")
        return use(value)

    return check


def _is_whole(value: object, least: int, most: float = float("inf")) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _LARGEST


def _is_positive(value: object) -> bool:
    return _is_amount(value) and value != 0


def _word(*allowed: str) -> Check:
    return _check(lambda value: value in allowed, f"one of {', '.join(allowed)}")


def _is_model(value: object, kinds: tuple[str, ...] = (), mark: str = "/") -> bool:
    """Whether a value is empty, or names a model behind its kind or provider."""
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
_AMOUNT: Final = _check(_is_amount, f"a number, 0 to {_LARGEST:,}", float)
_POSITIVE: Final = _check(_is_positive, f"a number above 0, up to {_LARGEST:,}", float)
_SHARE: Final = _check(
    lambda value: _is_positive(value) and value <= 1, "more than 0 and at most 1", float
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


def _both(mine: tuple[str, ...], said: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*mine, *said]))


def _rarer(mine: int, said: int) -> int:
    """Return the longer interval; 0 is never."""
    return 0 if 0 in (mine, said) else max(mine, said)


def _unless_never(mine: int, said: int) -> int:
    """Return the value of the project, unless home has a negative one, which means never."""
    return mine if mine < 0 else said


class Setting(NamedTuple):
    """A setting: its allowed values, and what the ``config.toml`` of a project may change.

    Attributes:
        check: Checks a value.
        who: ``stricter``: the stricter of home and project counts. ``home``: only the value of the
            global scope counts. ``refused``: the same, and a value of a project is an error.
            ``scope``: each scope has a value for its own files. ``project``: the project wins.
        join: Given the values of home and of the project, returns the one that counts.
        does: What a value may switch off that a person may expect to be on, in words.
        off: The value that does that.
    """

    check: Check
    who: Literal["stricter", "home", "refused", "scope", "project"]
    join: Callable[[Any, Any], Any] = _theirs
    does: str = ""
    off: object = False

    def stops(self, said: object, mine: object) -> bool:
        """Whether the value of a project switches off what is on at home."""
        if isinstance(said, tuple):
            return not _is_part_of(said, mine)
        return bool(self.does) and said == self.off != mine


def _is_part_of(said: object, holds: object) -> bool:
    """Whether the value of a project counts, alone or as a part of the value that ``holds``."""
    if isinstance(said, tuple) and isinstance(holds, tuple):
        return set(said) <= set(holds)
    return said == holds


def _asking(check: Check) -> Setting:
    """Return a limit on questions to a model: the lower one counts, and 0 asks none."""
    return Setting(check, "stricter", min, "asking a language model")


def _if_both(does: str) -> Setting:
    """Return a switch that is on only if it is on at home and in the project."""
    return Setting(_BOOLEAN, "stricter", min, does)


def _ranked(*words: str, does: str = "") -> Setting:
    """Return a choice in which the later, stricter word counts."""

    def stricter(mine: str, said: str) -> str:
        return max(mine, said, key=words.index)

    return Setting(_word(*words), "stricter", stricter, does, words[-1])


# Every setting, in the order in which messages list them.
SETTINGS: Final[Mapping[str, Setting]] = {
    "mode": _ranked(*MODES, does="writing memory"),
    "durability": Setting(_word(*get_args(Durability)), "scope"),
    "lock_timeout": Setting(_POSITIVE, "scope"),
    "max_file_mb": Setting(_POSITIVE, "scope", min),
    "timezone": Setting(_TEXT, "scope"),
    "pulled": _ranked("news", "review"),
    # The person decides on sections that show memory of all projects.
    "budgets.identity": Setting(_TOKENS, "home"),
    "budgets.global_rules": Setting(_TOKENS, "home"),
    "budgets.project_rules": Setting(_TOKENS, "project"),
    "budgets.global_lessons": Setting(_TOKENS, "home"),
    "budgets.project_lessons": Setting(_TOKENS, "project"),
    "budgets.skills": Setting(_TOKENS, "home"),
    "budgets.scratchpad": Setting(_TOKENS, "home"),
    "budgets.relevant": Setting(_TOKENS, "home"),
    "episodes.enabled": _if_both("recording"),
    "episodes.payloads": _ranked("keep", "drop", does="keeping what a transcript shows cut"),
    "episodes.input_limit": Setting(_COUNT, "stricter", min),
    "episodes.output_limit": Setting(_COUNT, "stricter", min),
    "episodes.durability": Setting(_word(*get_args(Durability)), "scope"),
    "episodes.redact": _ranked("off", "tools", "all"),
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
        _LIMIT, "project", _unless_never, "summarising conversations by size", -1
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
# What each table of the file becomes.
_TABLES: Final[Mapping[str, Callable[..., Any]]] = {
    "budgets": dict,
    "episodes": EpisodeSettings,
    "consolidation": ConsolidationSettings,
    "conversation": ConversationSettings,
    "worker": WorkerSettings,
}


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
    """Return the folders of the scopes, as seen from the working directory.

    Args:
        project: A project's folder, or its ``.engramdown``; by default the nearest one above the
            working directory, or a new one there.
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
    nearest = find_project(start, place)
    if nearest is not None:
        return Places(place, nearest)
    folder = scope_folder(start)
    if _real(folder) not in _taken(place):
        return Places(place, folder)
    reason = f"{start}: is not a project; change to the folder of one, or use the global scope"
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

    The folder of the global scope is not a project: neither ``home``, nor ``ENGRAMDOWN_HOME``,
    nor ``~/.engramdown``.

    Raises:
        SettingsError: If the folder is a link that leaves the project.
    """
    path = _absolute(start)
    taken = _taken(home)
    for folder in (path, *path.parents):
        candidate = folder if folder.name == FOLDER else folder / FOLDER
        if _is_there(candidate) and _real(candidate) not in taken:
            return _checked_link(candidate)
    return None


def _is_there(path: Path) -> bool:
    """Whether a scope is there, or a file or a link to itself in its place.

    Such a scope cannot be read, which is not the same as having no scope.
    """
    try:
        os.stat(path)  # noqa: PTH116 - Path.exists hides a link to itself
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
    values = {**mine}
    for key, said in theirs.items():
        setting = SETTINGS[key]
        values[key] = usual[key] if setting.who == "home" else setting.join(usual[key], said)
    outside = _outside(mode)
    values |= {key: value for key, (value, _) in outside.items()}
    at_home, overruled, switched_off = {}, [], []
    for key, said in theirs.items():
        holds = values[key]
        if SETTINGS[key].who == "scope" and holds != usual[key]:
            at_home[key] = usual[key]
        if not _is_part_of(said, holds):
            overruled.append(Overruled(key, said, holds, outside.get(key, (None, "home"))[1]))
        elif SETTINGS[key].stops(said, usual[key]):
            switched_off.append((key, said))
    return _settings(values)._replace(
        at_home=at_home, overruled=tuple(overruled), switched_off=tuple(switched_off)
    )


def _outside(mode: str | None) -> dict[str, tuple[Any, Literal["environment", "argument"]]]:
    """Return the settings from the environment and an argument, each with where it comes from."""
    values: dict[str, tuple[Any, Literal["environment", "argument"]]] = {}
    if variable := os.environ.get("ENGRAMDOWN_MODE", ""):
        source = "environment variable ENGRAMDOWN_MODE"
        values["mode"] = SETTINGS["mode"].check(source, "mode", variable), "environment"
    if mode is not None:
        values["mode"] = SETTINGS["mode"].check("argument", "mode", mode), "argument"
    for key, name in _SWITCHES.items():
        if (switched := _switched(name)) is not None:
            values[key] = switched, "environment"
    return values


def strictest(home: Path) -> Settings:
    """Return the strictest settings, for a project whose settings cannot be read.

    Nothing is written, recorded or learned, and what git brought waits. Otherwise the settings of
    the global scope count.

    Raises:
        SettingsError: If a setting of the global scope is wrong, too.
    """
    settings = load(home, None, "off")
    episodes = settings.episodes._replace(enabled=False)
    return settings._replace(pulled="review", episodes=episodes)


def load_or_strictest(home: Path, project: Path | None, mode: str | None = None) -> Settings:
    """Return what :func:`load` does, or the strictest if the project's ``config.toml`` is broken.

    Memory stays readable then; ``trouble`` says what is wrong.

    Raises:
        SettingsError: If a setting outside the project is wrong.
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


def episode_settings() -> EpisodeSettings:
    """Return the settings for transcripts without any file, from the environment alone.

    Raises:
        SettingsError: If ``ENGRAMDOWN_EPISODES`` is neither on nor off.
    """
    recorded = _switched(_SWITCHES["episodes.enabled"])
    return EpisodeSettings(enabled=recorded is not False)


# The settings that the environment switches on or off, and the variables that do.
_SWITCHES: Final = {
    "episodes.enabled": "ENGRAMDOWN_EPISODES",
    "consolidation.at_session_end": "ENGRAMDOWN_AT_SESSION_END",
}


def _switched(name: str) -> bool | None:
    """Return whether an environment variable is on or off; ``None`` if it is not set."""
    value = os.environ.get(name, "")
    short = name.removeprefix("ENGRAMDOWN_").lower()
    if not value:
        return None
    return bool(_SWITCH(f"environment variable {name}", short, value.lower()) == "on")


def _absolute(place: Path | str, source: str = "argument") -> Path:
    try:
        return Path(place).expanduser().absolute()
    except RuntimeError:
        reason = "no home directory of that name is known; give the whole path"
        raise SettingsError(source, str(place), reason) from None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _taken(home: Path | None) -> set[Path]:
    """Return the folders that the global scope has or may have had."""
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
    """Return the values in a file of settings, by the full names: ``episodes.enabled``."""
    text = config_text(path)
    if not text:
        return {}
    # Imported here: most scopes have no such file.
    import tomllib

    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a list 1,000 deep
        raise SettingsError(str(path), "file", f"is not TOML: {error}") from error
    values: dict[str, Any] = {}
    for key, value in tables.items():
        try:
            values |= _checked(str(path), key, value)
        except SettingsError as error:
            raise _at_line(error, path, text) from None
    return values


def _refuse_foreign(path: Path, said: Mapping[str, Any]) -> None:
    """Refuse what a project, which may have been cloned, must not set.

    It must not choose where memory is sent, nor leave secrets in transcripts.
    """
    for key, value in said.items():
        if SETTINGS[key].who == "refused" or (key, value) == ("episodes.redact", "off"):
            raise SettingsError(str(path), key, _AT_HOME)


def _at_line(error: SettingsError, path: Path, text: str) -> SettingsError:
    """Return an error that also names the line of the setting, if that can be found."""
    heading = ""
    for number, line in enumerate(text.split("\n"), 1):
        row = "".join(line.partition("=")[0].split()).translate({34: "", 39: ""})
        if row.startswith("["):
            heading = row.strip("[]") + "."
        # A whole table may be in one line.
        name = heading.removesuffix(".") if row.startswith("[") else heading + row
        inside = f"{error.key}.".startswith(f"{name}.") and "=" in line
        if row and (name == error.key or inside or name.startswith(f"{error.key}.")):
            reason = str(error).removeprefix(f"{path}: {error.key}: ")
            return SettingsError(str(path), error.key, f"{reason} (at line {number})")
    return error


def _settings(values: Mapping[str, Any]) -> Settings:
    """Return settings with some values; the others have their defaults."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
    single: dict[str, Any] = {}
    for key, value in values.items():
        name, _, inner = key.partition(".")
        if not inner:
            single[name] = value
        elif value is not None:
            tables[name][inner] = value
    built = {name: build(**tables[name]) for name, build in _TABLES.items()}
    return Settings(**built, **single)


def _default(key: str) -> Any:  # noqa: ANN401 - whatever a setting can be
    """Return the default of a setting; for the budget of a section ``None``."""
    name, _, inner = key.partition(".")
    usual = getattr(Settings(), name)
    if name == "budgets":
        return None
    return getattr(usual, inner) if inner else usual


def config_text(path: Path) -> str:
    """Return the text of a configuration file, or ``""`` if there is none.

    Raises:
        SettingsError: If it cannot be read, is not a file, is too large or not UTF-8.
    """
    try:
        descriptor = os.open(path, _READ)
        try:
            _check_file(path, os.fstat(descriptor))
            # Some editors begin a file of UTF-8 with a mark.
            return os.read(descriptor, _LARGEST_CONFIG).decode("utf-8-sig")
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return ""  # A file in the place of the scope is reported by whoever reads memory there.
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
    """Return the values of a key of a file, by the full names of the settings."""
    if key in _TABLES:
        if not isinstance(value, dict):
            raise SettingsError(source, key, f"{value!r} is not a table like [{key}]")
        keys = [name for name in SETTINGS if name.startswith(f"{key}.")]
        values = {f"{key}.{name}": each for name, each in value.items()}
        what = "section" if key == "budgets" else "setting"
    else:
        keys = [*(name for name in SETTINGS if "." not in name), *_TABLES]
        values, what = {key: value}, "setting"
    for name in values:
        if name not in keys:
            allowed = ", ".join(name.rpartition(".")[2] for name in keys)
            raise SettingsError(source, name, f"is not a {what}; allowed are {allowed}")
    return {name: SETTINGS[name].check(source, name, each) for name, each in values.items()}
