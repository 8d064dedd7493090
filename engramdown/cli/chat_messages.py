"""What the program says in a chat.

Promises: pure; plain words; an error is one line and names the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown.integrations.chat.endpoint import Address
    from engramdown.integrations.chat.turns import Turn


PROMPT: Final = "> "
GOES_ON: Final = "… "
WAITING: Final = "…"
CALL: Final = "·"
STOPPED: Final = "Stopped; the conversation goes on."
ENDED: Final = "Nothing was said, so nothing is kept."
NOTHING_YET: Final = "Nothing was said yet."
READS_ALL: Final = "type the message, then Ctrl-D: what is printed does not go to a terminal"
NOT_KEPT: Final = "conversations are not recorded here"
NOT_READ: Final = "that was no text in the terminal's encoding; nothing was sent"
NEEDS_MESSAGE: Final = (
    'with --json a chat is one turn; give the message: engramdown chat --json "Why is CI red?"'
)
NOT_INSTALLED: Final = "openai is not installed; run pip install 'engramdown[openai]'"
NO_MODEL: Final = (
    "name a model: --model ollama/llama3.2 for Ollama on this machine, --model openai/gpt-4.1-mini "
    "for OpenAI, or set model under [consolidation] in the global scope's config.toml"
)
NO_TOOLS: Final = (
    "this model calls no tools: it sees what is remembered, and can neither search nor add to it"
)
MORE_LINES: Final = "A line that ends with \\ goes on below; what is pasted is one message."
NO_MEMORY: Final = "Nothing is remembered here yet; /remember begins."
COMMANDS: Final = {
    "/memory": "what the model sees of memory, where it stands, and what it costs",
    "/review": "decide on what waits in pending.md",
    "/remember": "remember something: /remember Always use uv",
    "/recall": "search memory: /recall package manager",
    "/forget": "retire a memory by its id",
    "/undo": "reverse the last change of memory",
    "/compact": "summarise the older part of this conversation; with --without-model by rules",
    "/sleep": "learn from finished sessions, and tidy memory",
    "/help": "this list",
    "/quit": "end the conversation; Ctrl-D and Ctrl-C do, too",
}


def hello(address: Address, session: str, mode: str) -> str:
    """Say who talks where."""
    where = f"session {session}" if session else "not recorded"
    return f"{address.model} at {address.host} · {where} · {mode}"


def waits(count: int) -> str:
    """Say at the beginning what waits, and how to begin."""
    asked = f"{count} {_wait(count)} in pending.md: /review decides. " if count else ""
    return f"{asked}/help lists the commands, Ctrl-D ends."


def came_with_git(count: int) -> str:
    """Say that memories of somebody else came."""
    what = "1 thing" if count == 1 else f"{count} things"
    return f"{what} in memory came with git; /review lists what it is"


def help_rows() -> list[tuple[str, str]]:
    """Return every command and what it does."""
    return list(COMMANDS.items())


def no_command(name: str) -> str:
    """Say that there is no such command."""
    return f"no command {name}; /help lists them. What begins with a space is sent as it is"


def no_such_way(rest: str) -> str:
    """Say how a conversation is summarised."""
    return f"/compact takes nothing, or --without-model; {rest!r} is neither"


def no_words(rest: str, problem: str) -> str:
    """Say that what stands behind a command cannot be read."""
    return f"{rest!r} cannot be read as words: {problem}"


# ---- what goes wrong ----


def no_key(address: Address) -> str:
    """Say that a key is needed."""
    return (
        f"{address.host} wants a key, and {address.wanted} is not set; "
        f"run export {address.wanted}=… or name a server of your own with --base-url"
    )


def failed(turn: Turn, address: Address) -> str:
    """Say why there is no answer, and what to do."""
    nexts = {
        "unreachable": f"is {address.host} running? --base-url says where else it may listen",
        "unauthorized": f"look at {address.wanted}",
        "not_found": f"--model names another, --base-url says where it is{_pull(address)}",
        "timeout": "ask again, or raise --timeout",
        "rate_limited": "try again in a while",
        "server_error": "try again",
        "truncated": "say: go on",
    }
    said = nexts.get(turn.outcome, "")
    return f"{address.model}: {turn.failed}" + (f"; {said}" if said else "")


def not_recorded(reason: str) -> str:
    """Say that the transcript has trouble."""
    return f"what is said is not recorded: {reason}"


def cannot_go_on(where: str) -> str:
    """Say that there is no conversation to go on with."""
    return f"{where}; a chat can only go on where conversations are recorded"


# ---- confirmations ----


def asks(count: int) -> str:
    """Say that a person is asked."""
    return "This is for you to decide:" if count == 1 else f"These {count} are for you to decide:"


def gone(reason: str) -> str:
    """Say that somebody else decided meanwhile, or that it could not be done."""
    return f"passed over: {reason}"


def more_waits(count: int) -> str:
    """Say where those are that nobody is there to decide on."""
    return f"{count} {_wait(count)} in pending.md; `engramdown review` decides"


# ---- memory ----


def overhead(tokens: int, budget: int) -> str:
    """Say what stands around memory."""
    return (
        f"The tools and our instructions cost {tokens:,} tokens more; the budget for all is "
        f"{budget:,}: --budget sets it."
    )


def files(folder: str) -> str:
    """Say where memory stands."""
    return f"It stands in {folder}; edit it with any editor."


def compacted(messages_: int) -> str:
    """Say that older messages are summaries now."""
    what = "1 message is" if messages_ == 1 else f"{messages_:,} messages are"
    return f"{what} summarised now, and their words kept"


# ---- the end ----


def left(again: str, turns: int, told: dict[str, int], tokens: Turn) -> list[str]:
    """Say what a conversation leaves.

    Args:
        again: The command that goes on with it, or ``""``.
        turns: How many turns it had.
        told: How many memories were ``encoded``, ``queued``, ``forgotten``, and how many wait.
        tokens: A turn that stands for all of them.
    """
    verbs = (("encoded", "remembered"), ("forgotten", "forgotten"), ("queued", "proposed"))
    parts = [f"{told[key]} {verb}" for key, verb in verbs if told.get(key)]
    parts += [f"{told['waits']} {_wait(told['waits'])} in pending.md"] if told.get("waits") else []
    about = "" if tokens.is_counted else "about "
    used = f"{about}{tokens.tokens_in:,} tokens in, {tokens.tokens_out:,} out"
    count = "1 turn" if turns == 1 else f"{turns} turns"
    said = [f"{count}, {', '.join(parts) or 'nothing new to remember'}; {used}."]
    return [*said, f"Go on with: {again}"] if again else said


def _wait(count: int) -> str:
    return "waits" if count == 1 else "wait"


def _pull(address: Address) -> str:
    return f"; `ollama pull {address.model}` fetches it" if _is_ollama(address) else ""


def _is_ollama(address: Address) -> bool:
    return address.name.startswith("ollama/") or address.host.endswith(":11434")
