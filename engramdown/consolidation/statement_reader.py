"""What somebody states outright in a message: rules, facts about themselves, things to remember.

Pure, any string, linear time, no model. A statement is a piece of the message, tidied, behind at
most one word of ours (``Always``, ``Name:``); none comes out of code, a quotation, a question or a
story, and text that came through a tool or the web teaches nothing. What is learned is told by the
user and points at the line that taught it; ``docs/sleep.md`` says how much is missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from engramdown.consolidation.orders import ORDERS, STANDING, WHENS
from engramdown.consolidation.statement_forms import (
    BLANK,
    CAPITAL,
    FACTS,
    FOREIGN,
    KIN,
    LASTING,
    PREFERENCES,
    REMINDERS,
    Said,
    first_said,
    is_passing,
    is_reported,
    pattern,
    remembered,
)
from engramdown.consolidation.utterances import Sentence, mask_shown, sentences, small_letters
from engramdown.engram import Confidence, Engram, Kind, Scope, fold

LONGEST: Final = 300
"""A statement that is longer, in characters, is left out."""


class Statement(NamedTuple):
    """What is stated.

    Attributes:
        kind: The kind of memory.
        text: What shall be remembered.
        confidence: What the form of words deserves.
        scope: ``global`` for what is about the user or said to hold everywhere.
    """

    kind: Kind
    text: str
    confidence: Confidence
    scope: Scope


def statements(text: str) -> Iterator[Statement]:
    """Yield what ``text`` states outright, in its order.

    >>> [(s.kind, s.text) for s in statements("Looks good. Never push to main, and call me Jo!")]
    [('never', 'Never push to main'), ('profile', 'Name: Jo')]
    """
    mask = mask_shown(text)
    skipped = -1
    for sentence in sentences(mask):
        if sentence.start < skipped:
            continue
        clause = _Clause.of(text, mask, sentence)
        if pattern(_PRETENDS).match(clause.words):
            # What follows in this paragraph belongs to the game.
            end = mask.find("\n\n", sentence.end)
            skipped = end if end >= 0 else len(mask)
        elif not _is_sarcastic(clause.words, text[sentence.end : sentence.end + 8]):
            yield from _stated(clause)


class _Clause(NamedTuple):
    """A sentence as it is written, and masked in small letters, with single spaces."""

    written: str
    words: str
    mark: str

    @classmethod
    def of(cls, text: str, mask: str, sentence: Sentence) -> _Clause:
        spans = [found.span() for found in pattern(r"\S+").finditer(mask, *sentence[:2])]
        words = small_letters(" ".join(mask[start:end] for start, end in spans))
        return cls(" ".join(text[start:end] for start, end in spans), words, sentence.mark)


# ---- what a sentence is, as a whole ----

_PRETENDS: Final = (
    r"(?:please |now |ok,? |let's |let us |for this (?:test|exercise),? )*(?:imagine|pretend"
    r"|suppose|hypothetically|picture (?:this|that)|consider this|for the sake of argument"
    r"|let's (?:say|assume)|act as|act like|[^\n]*\brole-? ?play\b|stell dir vor|angenommen"
    r"|imagin(?:e que|ons|a que)|supongamos|suppos(?:e que|ons)|you are now|(?:ignore|disregard"
    r"|forget) (?:all |any |the |your )*(?:previous|prior|above)|in a (?:perfect|ideal"
    r"|parallel) world)\b"
)
_SARCASM: Final = (
    r"\b(?:great idea|what could (?:possibly )?go wrong|what fun|that's how you|every(?:body"
    r"|one) loves|why bother|oh sure|yeah right|lol sure|clearly the best|best (?:plan|idea) ever"
    r"|as if that|because that (?:works|went)|how (?:original|wonderful|lovely)|haha|hehe"
    r"|just kidding|genius|oh great|that'll (?:go|end) well|(?:right|sure|yeah),? because)\b"
)


def _is_sarcastic(words: str, after: str) -> bool:
    return bool(pattern(_SARCASM).search(words)) or pattern(r"\W*/s\b").match(after) is not None


# ---- the statements of a sentence ----

_SEPARATOR: Final = (
    r"(?:[,;:(]|\s[-\u2013\u2014]+)\s+(?:(?:and|but|so|then|also|because"
    r"|though) )*|\s(?:and|but|so|because|since)\s"
)
_OPENERS: Final = (
    r"(?:(?:ok(?:ay)?|so|and|also|but|then|oh|he+y+|hi+|hello|hiya|yo|please|pls|plz|just|well"
    r"|right|alright|yes|yeah|yep|no|nope|nah|actually|btw|by the way|fyi|nb|ps|p\.s|note|important"
    r"|reminder|rules?(?: (?:number )?(?:\d|one|two|three))?|a rule|another rule|one rule"
    r"|rule (?:number )?(?:\d|one|two|three)|(?:just )?(?:one|1) (?:more |other |last "
    r"|small )?(?:thing|request|note)|another thing|one thing though|two things|thanks(?: a lot"
    r"| so much)?|thank you|thx+|ty|cool|nice|great|good|fine|perfect|listen|look|first(?:ly)?"
    r"|second(?:ly)?|third(?:ly)?|finally|lastly|in addition|additionally|again|hm+|um+"
    r"|the thing is|(?:i|like i|as i)(?: already)?(?: said| told you)(?: before| already)?|i repeat"
    r"|heads[- ]up|remember|wrong|wrong command|that's wrong|incorrect|not quite|sorry|ugh|argh"
    r"|dude|man|bro|whatever you do|above all|most importantly|more importantly|(?:hey |hi |ok "
    r"|hello )(?!i\b)[\w]{2,15}(?=,)|(?:claude|assistant|copilot|jarvis|bot)|given (?:the|a) choice"
    r"|personally|generally|honestly|if i can choose|for context|about me|a bit about me"
    r"|some context|i mean(?:t)?(?: to)?(?= use\b)|no no(?: no)*)[,:!.\u2013\u2014-]*"
    r"|[-\u2013\u2014*:]+|(?:can|could|would|will) (?:you|u)(?: please| pls| kindly)?(?= (?:always"
    r"|never|stop|from|only|call|use|keep|remember|make|in|not)\b)|i(?:'d| would) like (?:it )?if y"
    r"ou) +"
)
_STRIPS: Final = 6
# What a sentence ends with and says nothing.
_COURTESY: Final = r"(?:,? (?:please|pls|plz|thanks|thank you|thx|btw|by the way|ok|okay))+\Z"
# The case of an order that stands alone behind it: "for python code, use type hints everywhere".
_CASE: Final = (
    r"(?!(?:in (?:short|general|addition|fact|other words|my opinion|summary|conclusion|any case"
    r"|principle|theory|practice|reality|hindsight|retrospect|future|the future|the end|case|return"
    r"|particular)|for (?:example|instance|the record|what it's worth|now|me|real|once|sure|context"
    r"|(?:all )?future [^,]*|later [^,]*|[\w' ]+ sake)|on (?:second thoughts?|(?:the|an?) (?:other "
    r"|one |side |related )?(?:hand|note)|top of that)|at (?:all times|the end of the day|least"
    r"|first)|with (?:that|all due respect)[^,]*|once (?:and for all|again|more)|after all"
    r"|if (?:possible|you (?:can|don't mind|want|like|please|ask me)|i may|i'm honest)"
    r"|before (?:i forget|we start|you start))\Z)(?:when(?:ever)?|while|if|before|after|once|during"
    r"|for|in|on|with|at) [^,;:]{2,60}"
)
_AT_HAND: Final = rf"\bth(?:is|ese|ose)\b(?! (?:{LASTING})\b)|\b(?:in|on|at|for|with) that\b"


def _stated(clause: _Clause) -> Iterator[Statement]:
    words = clause.words
    told = words[: _cut(words, len(words), _COURTESY)]
    found = list(_found(told))
    for at, (_, said) in enumerate(found):
        end = found[at + 1][0] if at + 1 < len(found) else len(words)
        whole = len(words) if said.end == len(told) else said.end
        made = _statement(clause, said._replace(end=min(whole, end)))
        if made is not None:
            yield made


def _found(words: str) -> Iterator[tuple[int, Said]]:
    """Yield what each clause says, with where it begins; a case and a memory go to the end."""
    done = 0
    for start, at in _starts(words):
        if at < done:
            continue
        if at and is_reported(words[:at]):
            return
        said = _read(words, at)
        case = "" if done or said is None else words[:start]
        if said is not None and pattern(_CASE).fullmatch(case):
            if is_passing(case, firm=True) or pattern(_AT_HAND).search(case):
                return
            said = _with_case(said)
        if said is not None:
            yield min(start, said.start), said
            if said.kind in ("when", "lesson"):
                return
            done = max(said.start + 1, said.end if said.end < len(words) else at + 1)


def _with_case(said: Said) -> Said:
    """Return an order or a preference together with the case that stands before it."""
    if said.kind in ("always", "never"):
        return said._replace(kind="when", start=0, label="")
    preferred = said.kind == "profile" and said.confidence == "medium"
    return said._replace(start=0) if preferred else said


def _starts(words: str) -> Iterator[tuple[int, int]]:
    """Yield where a separator begins and where the clause behind it does."""
    yield 0, 0
    for found in pattern(_SEPARATOR).finditer(words):
        yield found.span()


def _read(words: str, at: int) -> Said | None:
    for _ in range(_STRIPS):
        said = _read_here(words, at)
        opener = pattern(_OPENERS).match(words, at)
        if said is not None or opener is None:
            return said
        at = opener.end()
    return None


def _read_here(words: str, at: int) -> Said | None:
    told = remembered(words, at)
    if told >= 0:
        said = _read(words, told) or _memory(words, told)
        return said._replace(confidence="high") if said else None
    tongues = FOREIGN if at == 0 or words[at - 2 : at - 1] in ",:;" else ()
    return first_said(
        (*WHENS, *ORDERS, *STANDING, *PREFERENCES, *FACTS, *REMINDERS, *tongues), words, at
    )


def _memory(words: str, at: int) -> Said | None:
    """Return what shall be remembered in words of no other form, unless it passes."""
    if is_passing(words[at:], firm=True):
        return None
    about_me = pattern(r"i(?:'m|'ve)? (?!told|said|mentioned)").match(words, at)
    return Said("profile" if about_me else "lesson", "high", at, len(words))


# ---- the text of a statement ----

_EDGE: Final = " ,;:-(\u2013\u2014"
# Somebody else who says it, and what it is the title of, behind it.
_SAYS_ANOTHER: Final = (
    r"[^\n]*(?: is (?:how|what|why) (?:i|we|you|he|she|they|my|our)\b|, (?:says|said|sang|sings?"
    r"|wrote|writes|claims?|goes the \w+|according to|(?:as )?(?!i\b|we\b|so i\b|like i\b"
    r"|as i\b)[\w' ]{1,30}? (?:says?|said|puts? it|told me|used to say))\b|(?:, | (?:is|was|are"
    r"|sounds like|would make|makes) )(?:what an?|an?|the|my|his|her|their|our|such a|great|good"
    r"|lovely) (?:[\w']+ ){0,3}?(?:song|songs|film|movie|book|motto|line|lyrics?|track|tune|saying"
    r"|quote|phrase|title|slogan|joke|mantra|proverb|album|anthem|episode|headline|tweet|clich[eé]"
    r"|meme)\b)"
)
_UNFINISHED: Final = r"[^\n]* (?:to|the|a|an|of|with)(?:,? (?:and|but|so|or))?\Z"
# "…, ok?" asks nothing.
_TAG: Final = r"[^\n]*, (?:ok|okay|k|please|pls|deal|alright|got it|thanks)\Z"
_REQUEST: Final = (
    rf"(?:{_OPENERS})*?(?:can|(?P<polite>could|would|will)) (?:you|u)\b"
    r"(?P<please>[^\n]*\b(?:please|pls|from now on|in future|stop|remember|call me)\b)?"
)
# Where the question begins behind a fact.
_ASKS: Final = (
    r"(?:,| -|;| so| but| and)(?: (?:and|but|so))? (?=(?:can|could|would|will|what|how|do|does"
    r"|did|is|are|am|should|which|where|when|who|why|maybe|any|have|has|may)\b)"
)
# Where a wish begins behind a fact.
_WANTS: Final = (
    r",? (?:and|but|so) (?:i (?:need|want|wonder|have a|am looking|was)|i'm (?:looking|trying)"
    r"|i'd like|can you|could you|please|let's|help me)\b|, which is why\b"
    r"|, (?:can|could|would|will|what|how|do|does|is|are|should) (?:you|i|we|the|it|there)\b"
)
_FILLERS: Final = (
    r"(?:[,.]? (?:please|pls|plz|thanks|thank you|thx|ok|okay|btw|by the way|lol|though|too"
    r"|honestly|tbh|from now on|going forward|in future|in the future|(?:please |so )?(?:remember"
    r"|keep (?:(?:that|this|it) )?in mind|don't forget|never forget)(?: that| this| it)?"
    r"|s'il te plaît|por favor|bitte))+\Z"
)
_AGAIN: Final = r"(?:,? (?:again|ever again|any ?more|ever|at all))+\Z"
_ABOUT_THAT: Final = (
    r"(?:(?:always|never|please|stop|also|just) )*[\w'-]+ (?:(?:about |for |with |to |in "
    r"|on )?(?:(?:it|them|so)\b|one\Z)|(?:this|these|those)\b(?! (?:repo|repository|project|code"
    r"|codebase|app|machine|laptop|team|computer)\b)|(?<!check )(?<!confirm )(?<!verify )(?<!ensure"
    r" )(?<!assume )(?<!sure )(?<!remember )that\b|that\Z)"
)
_MY_LIFE: Final = (
    rf"(?:my|our) (?:\w+ )?(?:{KIN}|kids|children|family|birthday|anniversary|allergy|allergies"
    r"|diet|passport|visa|blood type|doctor|dentist|home|flat|house|car|bike)\b"
)
_EVERYWHERE: Final = (
    r"(?:\A(?!(?:for|in|on|with|when|while|if)\b)(?!.*\bthis\b).*\beverywhere\b|\b(?:globally|(?:in"
    r"|across|for) (?:all|every|any)(?: one)?(?: of)?(?: my| our| your)? (?:projects?|repos?"
    r"|repositories|codebases)|in (?:my|our) (?:projects|repos|repositories|codebases)|in general"
    r"|no matter (?:the|which|what) project|in whatever project)\b)"
)


def _statement(clause: _Clause, said: Said) -> Statement | None:
    if clause.mark == "?" and not pattern(_TAG).match(clause.words):
        if said.confidence == "low":
            return None
        said = _without_question(clause.words, said)
        if not _is_request(clause.words, said):
            return None
    said = _before(_WANTS, clause.words, said)
    words = clause.words[said.start : said.end]
    start = said.start + (0 if said.label else _polite(words))
    text = clause.written[start : said.start + _length(words, said.label)]
    if _says_nothing(words, said) or not _looks_right(text, said) or len(text) > LONGEST:
        return None
    if pattern(_SAYS_ANOTHER).match(clause.words, said.start):
        return None
    everywhere = pattern(_EVERYWHERE).search(clause.words) is not None
    mine = said.kind == "profile" or pattern(_MY_LIFE).match(words) is not None
    scope: Scope = "global" if mine or everywhere else "project"
    whole = f"{said.label.strip()} {text}" if said.label else _capitalised(text)
    return Statement(said.kind, whole, said.confidence, scope)


def _capitalised(text: str) -> str:
    """Return ``text`` with a capital letter in front, where that changes nothing else."""
    first = text[0].upper()
    return first + text[1:] if first.lower() == text[0] else text


def _polite(words: str) -> int:
    """Return where an order begins behind "please"."""
    found = pattern(r"(?:(?:please|pls|plz|just) )+").match(words)
    return found.end() if found else 0


def _length(words: str, label: str) -> int:
    """Return how much of ``words`` is left without what adds nothing at the end."""
    end = _cut(words, len(words.rstrip(_EDGE)), _FILLERS)
    end = _cut(words, end, _AGAIN) if label == "Never" else end
    return len(words[:end].rstrip(_EDGE))


def _says_nothing(words: str, said: Said) -> bool:
    """Whether what is kept cannot be understood alone: "never do that", "I love to"."""
    shown = not words.strip(BLANK + _EDGE) or pattern(_UNFINISHED).match(words) is not None
    shown = shown or pattern(rf"(?:{_OPENERS})+\Z").match(f"{words.strip(_EDGE)} ") is not None
    order = said.kind in ("always", "never")
    return shown or (order and pattern(_ABOUT_THAT).match(words) is not None)


def _looks_right(text: str, said: Said) -> bool:
    """Whether capital letters stand where they should: in a name, and not in an order.

    "Never Let Me Go" is a book.
    """
    if said.label == CAPITAL:
        return all(word.istitle() or _is_call_sign(word) for word in text.split())
    is_title = text[:1].isupper() and text[1:2].islower()
    return said.label not in ("Always", "Never") or not is_title


def _is_call_sign(word: str) -> bool:
    return word[:1].isupper() and any(map(str.isdigit, word))


def _cut(words: str, end: int, what: str) -> int:
    found = pattern(what).search(words[:end])
    return found.start() if found else end


def _without_question(words: str, said: Said) -> Said:
    """Return a fact without the question behind it: "I'm a nurse, what is my shift?"."""
    return _before(_ASKS, words, said)


def _before(what: str, words: str, said: Said) -> Said:
    """Return a fact that goes to the end without what begins with ``what``."""
    if said.kind != "profile" or said.end < len(words):
        return said
    behind = pattern(what).search(words, said.start)
    return said._replace(end=behind.start()) if behind else said


def _is_request(words: str, said: Said) -> bool:
    """Whether a question asks the assistant to do something, or asks about something else."""
    asks = pattern(_REQUEST).match(words)
    if asks is not None and (asks["please"] or asks["polite"] or said.kind == "lesson"):
        return True
    return said.kind == "profile" and bool(words[said.end :].strip())


# ---- memories of a message ----

MOST: Final = 20
"""So many memories one message may bring; who states more has pasted something."""


def extract(text: str, *, origin: str = "", via: str = "") -> list[Engram]:
    """Return what the user states in ``text``, one message, each thing once.

    Args:
        text: What the user wrote. Halves of surrogate pairs are left out.
        origin: Where it stands, ``<session>#<episode>``.
        via: ``tool`` or ``web`` if the text came from there: then nothing is learned.

    >>> [found] = extract("Thanks! From now on use uv, please.", origin="20260227-101500-4f2a#12")
    >>> found.kind, found.text, found.confidence, found.source, found.basis
    ('always', 'Use uv', 'high', 'user', 'told')
    """
    if via:
        return []
    found: dict[str, Engram] = {}
    for said in statements(text.encode(errors="ignore").decode()):
        engram = Engram(
            said.text, said.kind, said.scope, said.confidence, source="user", origin=origin
        )
        found.setdefault(fold(said.text), engram)
    return list(found.values())[:MOST]
