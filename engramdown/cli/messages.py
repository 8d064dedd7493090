"""Every sentence that the program says to a person, in one place.

Promises: pure; plain words; an error names the next step. What an option is for is said where the
option is declared. Loaded at every start, so it loads nothing of memory itself.
"""

# long file: one place for every sentence is what it is for

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown import Entry, Proposal, Receipt
    from engramdown.hippocampus.entry import Archived
    from engramdown.hippocampus.steps import Step

__all__ = [
    "BY_HAND",
    "BY_NAMES",
    "COMMAND_GROUPS",
    "DECLINED",
    "DRY_RUN",
    "EDIT_INSTEAD",
    "EMPTY_PROPOSAL",
    "EPILOG",
    "EXPLAIN_HEAD",
    "KEY_WORDS",
    "KIND_HELP",
    "NEXT",
    "NOTHING_TO_UNDO",
    "NO_DATE",
    "NO_FOLDER",
    "NO_STEPS",
    "OLDER",
    "PROFILE_IS_GLOBAL",
    "REVIEW_EDIT_INSTEAD",
    "SCOPE_NAMES",
    "SHORT_HELP",
    "SIMILAR",
    "SOURCE_NAMES",
    "STATS_GROUPS",
    "STATS_TOTALS",
    "STOPPED",
    "TOUR",
    "TOUR_END",
    "TOUR_KEY",
    "UNCHANGED",
    "ambiguous",
    "ask_global",
    "changed",
    "count_title",
    "decided_twice",
    "empty_edit",
    "explain_total",
    "forgotten",
    "init_in_home",
    "is_retired",
    "key_help",
    "keys",
    "left_out",
    "made",
    "more_changes",
    "next_steps",
    "no_editor",
    "no_history",
    "no_memory",
    "no_project",
    "no_step",
    "no_such_command",
    "nothing_found",
    "nothing_listed",
    "outer_project",
    "passed_over",
    "proposal_facts",
    "receipt",
    "restored",
    "retired",
    "several_kinds",
    "stands_in",
    "step_title",
    "system_error",
    "undo_instead",
    "undone",
    "up_to",
    "waiting",
    "waits_because",
    "waits_in",
    "walk_done",
    "whence",
    "why_pointer",
    "wrong_usage",
]

# ---- the program ----

SHORT_HELP: Final = {
    "init": "Set up memory for a project, and for all projects.",
    "tour": "Watch memory work, in a folder that is thrown away.",
    "remember": "Remember a rule, a lesson or a fact about you.",
    "recall": "Search memory.",
    "context": "Print what a model sees of memory.",
    "review": "Decide on what waits for you.",
    "list": "List memories, file by file.",
    "show": "Show one memory in full.",
    "why": "Say where a memory comes from.",
    "history": "Show what was changed, newest first.",
    "stats": "Count what is remembered.",
    "log": "Record what is said and done, and read it.",
    "import": "Bring in transcripts of other programs.",
    "export": "Write a session as markdown or JSON.",
    "edit": "Change the text of a memory.",
    "forget": "Retire memories.",
    "restore": "Bring back a retired memory.",
    "undo": "Reverse a change.",
    "doctor": "Find, and mend, what is wrong in the files.",
}
COMMAND_GROUPS: Final = {
    "Begin": ("init", "tour"),
    "Every day": ("remember", "recall", "context", "review"),
    "Look": ("list", "show", "why", "history", "stats"),
    "Transcripts": ("log", "import", "export"),
    "Change": ("edit", "forget", "restore", "undo"),
    "Care": ("doctor",),
}
EPILOG: Final = "`engramdown COMMAND --help` says more about a command."
STOPPED: Final = "Stopped."
DRY_RUN: Final = "Dry run: nothing is written."


def no_such_command(name: str, commands: Iterable[str]) -> str:
    """Say that there is no command of this name, and which one was perhaps meant."""
    import difflib

    near = difflib.get_close_matches(name, commands, n=1)
    return f"no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def wrong_usage(message: str, path: str) -> str:
    """Say what is wrong in a command line, and where to read how it is right."""
    said = message.rstrip(". ")
    said = said[:1].lower() + said[1:]
    joint = " " if said.endswith("?") else "; "
    return f"{said}{joint}see `{path} --help`"


def system_error(error: OSError) -> str:
    """Say what the system refused, and for which file."""
    what = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {what}" if error.filename else what


# ---- where memory is ----

SCOPE_NAMES: Final = {"project": "this project", "global": "all projects"}
NO_FOLDER: Final = "the working directory is gone; cd to another one, or use -C DIR"
NEXT: Final = "What to do next"


def no_project(start: Path) -> str:
    """Say that there is no project here."""
    return f"no project memory in {start} or above; run `engramdown init`, or use --global"


def no_memory(start: Path, home: Path) -> str:
    """Say that there is no memory at all."""
    return f"no memory in {start} or above, nor in {home}; run `engramdown init`"


def init_in_home(home: Path) -> str:
    """Say why a project cannot be where the global scope is."""
    return (
        f"{home} is where memory for all projects is kept, so it cannot be a project too; "
        "run `engramdown init` in a project's folder, or `engramdown init --global` here"
    )


def ask_global(home: Path) -> str:
    """Ask whether to set up the global scope."""
    return f"Also keep memory for all your projects, in {home}?"


def made(scope: str, *, new: bool) -> str:
    """Say that a scope is set up; its folder stands below."""
    kind = "Memory for all projects" if scope == "global" else "Memory for this project"
    return f"{kind} is {'ready' if new else 'there already'}:"


def outer_project(outer: Path) -> str:
    """Say that another project is above this one."""
    return f"Note: {outer} is above this folder; from here on, this project is used instead."


def next_steps(*, has_global: bool) -> list[tuple[str, str]]:
    """Return the first commands to try, each with what it does."""
    steps = [
        ('engramdown remember "Always run the linter before pushing"', "writes it to rules.md"),
        ("engramdown context", "prints what a model sees"),
        ("engramdown tour", "shows the rest in a minute"),
    ]
    if not has_global:
        steps.append(("engramdown init --global", "also keeps memory for all your projects"))
    return steps


# ---- remembering ----

KIND_HELP: Final = {
    "always": "A rule: do this always.",
    "never": "A rule: never do this.",
    "when": "A rule for a certain case.",
    "lesson": "Something that was learned.",
    "profile": "A fact about you.",
}
DECLINED: Final = "Declined; it is not proposed again."
_DECLINED: Final = "declined"
PROFILE_IS_GLOBAL: Final = (
    "a fact about you is kept for all projects; leave out --project, or say --lesson"
)


def several_kinds(kinds: Iterable[str]) -> str:
    """Say that only one kind is possible."""
    return f"a memory has one kind, not {' and '.join(kinds)}; give one of these options"


def receipt(item: Receipt) -> str:
    """Say what happened to a memory, where, and why."""
    if item.reason == _DECLINED:
        return DECLINED
    place = f"{item.file}:{item.line}" if item.line else item.file
    kind = f"({item.engram.kind}, {item.engram.scope})"
    reason = f": {item.reason}" if item.reason else ""
    said = {
        "encoded": f"Remembered in {place} {kind} id {item.id}",
        "merged": f"Known already: {place} {kind} id {item.id}",
        "queued": (
            f"Waiting for you in {place} {kind} id {item.id}, because: {item.reason}. "
            "Decide with `engramdown review`."
        ),
        "discarded": f"Not written{reason}",
        "forgotten": f"Forgot {item.id}",
        "failed": f"Could not write it{reason}",
    }
    return said[item.action]


# ---- finding ----

BY_NAMES: Final = {
    "user": "you",
    "person": "you, by hand",
    "llm": "the assistant",
    "consolidation": "tidying up",
    "engramdown": "Engramdown",
}
SOURCE_NAMES: Final = {"user": "you", "llm": "the assistant", "consolidation": "tidying up"}


def nothing_found(query: str) -> str:
    """Say that no memory fits."""
    return f"nothing found for {query!r}; `engramdown list` shows everything"


def nothing_listed(*, filtered: bool, archived: bool) -> str:
    """Say that there is nothing to list."""
    if filtered:
        return "no memory passes these filters; `engramdown list` shows everything"
    if archived:
        return "nothing was retired so far; `engramdown forget ID` retires a memory"
    return 'nothing is remembered yet; begin with `engramdown remember "..."`'


def ambiguous(prefix: str) -> str:
    """Say that a prefix begins several ids, which are listed below."""
    return f"{prefix!r} could be any of these; give more characters"


def is_retired(entry_id: str) -> str:
    """Say that a memory is retired, and how to bring it back."""
    return f"{entry_id} is retired; `engramdown restore {entry_id}` brings it back"


def why_pointer(entry_id: str) -> str:
    """Point at the command that says where a memory comes from."""
    return f"`engramdown why {entry_id}` says where it comes from."


EXPLAIN_HEAD: Final = ("tokens", "budget", "shown", "left out", "section")


def explain_total(tokens: int) -> str:
    """Say what the context costs."""
    return f"{tokens} tokens in all, with the words around the sections"


def left_out(section: str) -> str:
    """Name the section whose budget was too small for the memories below."""
    return f"Left out of {section}"


# ---- changing ----

UNCHANGED: Final = "Nothing changed."
EDIT_INSTEAD: Final = "give the new text behind the id"
REVIEW_EDIT_INSTEAD: Final = "use `engramdown review --edit ID TEXT`"
NOTHING_TO_UNDO: Final = "nothing is left to undo; `engramdown history` shows what was done"


def no_editor(instead: str) -> str:
    """Say that no editor can be opened."""
    return f"no $EDITOR is set and there is no terminal; {instead}"


def empty_edit(entry_id: str) -> str:
    """Say that a memory cannot be empty."""
    return f"the text is empty; to retire the memory, run `engramdown forget {entry_id}`"


def changed(entry: Entry) -> str:
    """Say that a memory has another text."""
    return f"Changed {entry.file}:{entry.line} ({entry.kind}, {entry.scope}) id {entry.id}"


def forgotten(entry: Entry) -> str:
    """Say that a memory was retired, and how to get it back."""
    return (
        f"Forgot {entry.id}, which was in {entry.file}; "
        f"`engramdown undo` or `engramdown restore {entry.id}` brings it back"
    )


def restored(entry: Entry) -> str:
    """Say that a memory is back."""
    return f"Restored in {entry.file}:{entry.line} ({entry.kind}, {entry.scope}) id {entry.id}"


# ---- the journal ----

BY_HAND: Final = "A person wrote this line by hand: it is theirs, and no automatic job touches it."
NO_STEPS: Final = "The journal has no step about it: it came with the file."
_BASES: Final = {
    "told": "said so",
    "observed": "saw it",
    "inferred": "inferred it",
    "verified": "said so, and a person confirmed it",
}
_WHO: Final = {
    "user": "You",
    "person": "You, by hand,",
    "llm": "The assistant",
    "consolidation": "Tidying up",
    "engramdown": "Engramdown",
}
_OPS: Final = {
    "accept": "accepted a proposal",
    "checkout": "took another version of the file from git",
    "decline": "declined a proposal",
    "edit": "edited the file",
    "encode": "remembered",
    "forget": "forgot",
    "found": "brought the file",
    "init": "set this up",
    "notice": "took in what follows from a hand edit",
    "propose": "proposed",
    "restore": "restored",
    "rewrite": "mended the file",
    "undo": "undid",
    "update": "changed",
}


def whence(source: str, basis: str, origin: str) -> str:
    """Say who a memory is from and how it is known."""
    who = SOURCE_NAMES[source].capitalize()
    learned = f", in {origin}" if origin else ""
    return f"{who} {_BASES[basis]}{learned}."


def stands_in(place: str, scope: str) -> str:
    """Say where a memory stands now."""
    return f"It stands in {place}, for {SCOPE_NAMES[scope]}."


def waits_in(proposal: Proposal) -> str:
    """Say that a proposal waits, and why."""
    why = proposal.hold or proposal.reason
    place = f"{Path(proposal.file).name}:{proposal.line}"
    return f"It waits in {place}{f', because: {why}' if why else ''}."


def retired(item: Archived) -> str:
    """Say that a memory is retired."""
    by = f" by {BY_NAMES.get(item.by, item.by)}" if item.by else ""
    date = f" on {item.date}" if item.date else ""
    return f"It was retired{by}{date}: {item.reason or 'no reason given'}."


def step_title(step: Step) -> str:
    """Say who did what."""
    what = f" step {step.of}" if step.of else ""
    return f"{_WHO.get(step.by, step.by)} {_OPS.get(step.op, step.op)}{what}"


def more_changes(count: int) -> str:
    """Say how many changes are not shown."""
    return f"... and {count} more; --json shows all"


def no_history(file: str | None) -> str:
    """Say that there are no steps."""
    return f"no step changed {file}" if file else "nothing was changed so far"


def no_step(step_id: str) -> str:
    """Say that there is no such step."""
    return f"no step {step_id!r}; `engramdown history` shows the steps"


def undone(step: Step) -> str:
    """Say what was undone."""
    return f"Undone: step {_named(step)}"


def passed_over(step: Step) -> str:
    """Say that nothing is left of a step that could be undone."""
    return f"Passed over: step {_named(step)}; nothing that it wrote is there any more"


def undo_instead(step: Step, scope: str) -> str:
    """Say how to undo the step before one that cannot be undone."""
    return f"`engramdown undo {step.id}` undoes the one before ({_deed(step)}, {scope})"


def _named(step: Step) -> str:
    return f"{step.id} ({_deed(step)})"


def _deed(step: Step) -> str:
    what = step_title(step)
    return f"{what[:1].lower()}{what[1:]}"


# ---- review ----

SIMILAR: Final = "like  "
EMPTY_PROPOSAL: Final = "The text is empty; d declines a proposal."
KEY_WORDS: Final = {
    "a": "accept",
    "A": "accept all of this kind",
    "e": "edit",
    "d": "decline",
    "s": "skip",
    "q": "quit",
}


def keys(width: int) -> str:
    """Ask for a key, in one row of a terminal."""
    asked = "a accept · e edit · d decline · s skip · A all of this kind · q quit > "
    return asked if len(asked) < width else "a e d s A q, ? for help > "


def key_help(kind: str) -> list[str]:
    """Say what each key does."""
    return [
        "a  accept: it is remembered",
        "e  edit: change the text in your editor, then accept it",
        "d  decline: it is not proposed again, re-worded or not",
        "s  skip: it keeps waiting",
        f"A  accept this and every later proposal of the kind {kind!r}",
        "q  quit: what is decided stays decided",
    ]


def proposal_facts(proposal: Proposal) -> str:
    """Say in one line what is known about a proposal."""
    engram = proposal.engram
    facts = [engram.kind, engram.scope, f"{engram.confidence} confidence"]
    facts.append(f"from {SOURCE_NAMES[engram.source]}")
    facts += [f"topic {engram.topic}"] if engram.topic else []
    facts += [f"learned in {engram.origin}"] if engram.origin else []
    facts += [proposal.ts] if proposal.ts else []
    return " · ".join(facts)


def waits_because(reason: str) -> str:
    """Say why a proposal waits."""
    return f"Waits because: {reason}"


def decided_twice(entry_id: str) -> str:
    """Say that two options are about one proposal."""
    return f"{entry_id} is named twice; decide once"


def waiting(count: int) -> str:
    """Say how many proposals wait, and how to decide."""
    if not count:
        return "Nothing is waiting."
    how = "`engramdown review` in a terminal, or with --accept ID, --decline ID, --all"
    return f"{count} waiting. Decide by ticking in pending.md, or with {how}."


def walk_done(decided: int, left: int) -> str:
    """Say what the walk did."""
    if not decided and not left:
        return "Nothing is waiting."
    return f"{decided} decided, {left} still waiting."


# ---- numbers ----

NO_DATE: Final = "without a date"
OLDER: Final = "older"
STATS_GROUPS: Final = {
    "by_file": "by file",
    "by_kind": "by kind",
    "by_source": "by source",
    "by_basis": "by how it is known",
    "by_age": "by age",
}
STATS_TOTALS: Final = {
    "pending": "waiting in pending.md",
    "archived": "retired, in archive.md",
    "context_tokens": "tokens of context",
    "history_steps": "steps in the journal",
    "history_bytes": "bytes of journal",
}


def up_to(name: str) -> str:
    """Name a class of age."""
    return f"up to {name}"


def count_title(count: int) -> str:
    """Say how many memories there are."""
    return f"{count} {'memory' if count == 1 else 'memories'}"


# ---- the tour ----

TOUR: Final = {
    "init": (
        "Memory is a folder beside your work",
        "Each file explains itself in a private note, which no model ever sees.",
    ),
    "remember": (
        "You say something once",
        "The words tell that it is a rule. One memory is one line, with a comment of metadata.",
    ),
    "again": (
        "Saying it again adds nothing",
        "Case, spaces and the final full stop make no difference.",
    ),
    "edit": (
        "The file is yours",
        "You open rules.md in your editor and change the line.",
    ),
    "listed": (
        "What you wrote counts most",
        "Your edit is noticed. The line is verified now: nothing automatic will touch it.",
    ),
    "propose": (
        "An assistant proposes, and waits",
        "In the mode copilot, what is not certain goes to pending.md. Nobody is interrupted.",
    ),
    "tick": (
        "You decide, in any editor",
        "A cross in the box accepts, a dash declines. `engramdown review` asks with one key.",
    ),
    "review": (
        "What you ticked is done",
        "The line moves from pending.md to rules.md in one step.",
    ),
    "context": (
        "This is all that a model sees",
        "No ids, no notes, nothing that waits; always within a budget.",
    ),
    "undo": (
        "Every change can be taken back",
        "`engramdown history` lists them. What you wrote by hand is never overwritten.",
    ),
}
TOUR_KEY: Final = "Any key goes on, q stops. "
TOUR_END: Final = "That was all; the folder is gone. Begin with `engramdown init`."
