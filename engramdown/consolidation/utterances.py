"""Utterances: what the writer of a message says, and what is only shown.

Code, quotations, logs and pasted text are shown. A masked text is as long as the text, line by line
and character by character, so that offsets agree; what is shown is blank in it. Any string may be
passed; linear time. Where it cannot be told whether somebody says a thing or shows it, it counts as
shown, and nothing is learned from it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from engramdown.consolidation.statement_forms import BLANK, KIN

LONGEST: Final = 600
"""A sentence that is longer, in characters, is none that somebody gives as an order."""

# From so many characters on a message is a text that somebody pasted, with his words around it.
_DOCUMENT: Final = 4000
# The shortest line that may be one of a paragraph that was wrapped by a program.
_WRAPPED: Final = 40
_CURLY: Final = str.maketrans("\u2018\u2019\u02bc\u00b4", "''''")


class Sentence(NamedTuple):
    """A sentence of a message.

    Attributes:
        start: The offset of its first character.
        end: The offset after its last one, without the mark.
        mark: What ends it: ``.``, ``!``, ``?`` or nothing.
    """

    start: int
    end: int
    mark: str


def mask_shown(text: str) -> str:
    r"""Return ``text`` with what its writer only shows made blank.

    >>> mask_shown("Why?\n> never\nSay 'no'.").replace(BLANK, "_")
    'Why?\n       \nSay ____.'
    """
    hidden = _without_tags(text)
    lines = hidden.split("\n")
    said = _said(lines)
    if len(text) > _DOCUMENT:
        said = _around(lines, said)
    kept = [line[:end] + " " * (len(line) - end) for line, end in zip(lines, said, strict=True)]
    return _pattern(_INLINE).sub(lambda found: BLANK * len(found[0]), "\n".join(kept))


def small_letters(text: str) -> str:
    """Return ``text`` in small letters and with straight apostrophes, as long as it was."""
    small = text.lower()
    if len(small) != len(text):
        small = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return small.translate(_CURLY)


def sentences(mask: str) -> Iterator[Sentence]:
    """Yield the sentences of a masked text; those that are longer than 600 characters are left out.

    >>> mask = "Hi Dr. No! See v1.2 e.g. here. Bye"
    >>> [mask[sentence.start : sentence.end] for sentence in sentences(mask)]
    ['Hi Dr. No', 'See v1.2 e.g. here', 'Bye']
    """
    start = 0
    for found in _pattern(_END).finditer(mask):
        if found["line"] is not None and _goes_on(mask, start, found):
            continue
        if found["mark"] == "." and _is_shortened(mask, start, found.end("mark")):
            continue
        if found["mark"] and any_case(_DENIES).fullmatch(mask, start, found.start()):
            continue  # What is said instead belongs to it.
        yield from _sentence(mask, start, found.start(), (found["mark"] or "")[-1:])
        start = found.end()
    yield from _sentence(mask, start, len(mask), "")


def own_words(text: str, fact: str) -> list[str]:
    """Return what of a message may bear out a fact about its writer.

    What is asked, what is supposed, and what is said of somebody else is left out; a name also
    where nobody speaks of themselves. Patterns of English and a few words of German, French and
    Spanish: what they do not know stays.

    Args:
        text: What the writer wrote.
        fact: What is taken to be true of them; one about a relative or a colleague may be borne
            out by what is said of these.

    >>> own_words("My colleague Eve uses vim, I use emacs. Is Helix good?", "Editor: vim")
    ['I use emacs']
    """
    apart = any_case(_OTHERS).search(fact) is None
    named = any_case(_NAMED).match(fact) is not None
    parts = any_case(_SENTENCE_END).split(text)
    found: list[str] = []
    for said, mark in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if said.lstrip().startswith(">"):
            continue  # Quoted from elsewhere.
        clauses = any_case(_OWN_BEGINS).split(said)
        if "?" in mark or "\uff1f" in mark or any_case(_ASKS).match(said):
            clauses = [each for each in clauses[:-1] if any_case(_OWN_SAYS).match(each)]
        kept: list[str] = []
        for each in clauses:
            left = (_without_others(each) if apart else each).strip()
            strange = named and apart and _is_no_introduction(left)
            if left and not strange and not any_case(_SUPPOSES).match(left):
                kept.append(left)
        # A negation may stand in another clause of the sentence.
        found += [", ".join(kept)] if kept else []
    return found


def _without_others(clause: str) -> str:
    """Return a clause from where its writer speaks of themselves, if it begins with another."""
    if any_case(_OF_ANOTHER).match(clause):
        begins = any_case(_I_SAY).search(clause)
        return clause[begins.start() :] if begins else ""
    # "I asked my colleague Eve": the name is the colleague's.
    return any_case(_BESIDE).sub(r"\1", clause)


def _is_no_introduction(clause: str) -> bool:
    """Whether nobody introduces themselves: "Thanks, Eve", "Eve is my manager"."""
    if any_case(_STRANGER).search(clause):
        return True
    is_latin = _pattern(r"[^\W\d_\x00-\u024f]").search(clause) is None
    return is_latin and len(clause.split()) > _NAME_ONLY and not any_case(_ONESELF).search(clause)


# ---- whose words they are ----

_NAME_ONLY: Final = 3
"""So many words may be nothing but a name, the answer to who somebody is."""
_SENTENCE_END: Final = r"((?<![.!?\u2026])[.!?\u2026]++(?=[\s\"')\]*_]|\Z)|[\u3002\uff01\uff1f]|\n)"
_I: Final = r"(?:i|i'm|i've|i'd|we|we're|ich|wir|je|j'\w+|nous|yo|nosotros)"
_MINE: Final = r"(?:my|our|mein\w{0,2}|unser\w{0,2}|mon|ma|mes|notre|mi|mis|nuestr[ao]s?)"
_OWN_BEGINS: Final = (
    r"[,;]\s+|\s[-\u2013\u2014]\s|\s+(?:and|und|et|y|but|aber|mais|pero)\s+"
    rf"(?={_I}\b|{_MINE}\b|can\b|could\b|what\b|how\b|do\b|is\b)"
)
_OWN_SAYS: Final = (
    rf"\W*(?:(?:hi|hello|hey|ok|okay|so|well|yes|no|and|actually)\b\W*)?(?:{_I}|{_MINE})\b"
)
_I_SAY: Final = rf"(?<!\w){_I}\b(?!\s+(?:am|are|is|was|were)\s+\w+\s*\Z)"
_ASKS: Final = (
    r"\W*(?:(?:so|and|hey|hi|ok|okay|well|please)\b\W*)?(?:(?:what|which|who|where|when|why"
    r"|how)(?:'s|'re)?\s+(?:is|are|was|were|do|does|did|should|can|could|would|about|if)\b|(?:is"
    r"|are|was|were|do|does|did|can|could|should|would|will)\s+(?:you|your|i|my|it|he|she|they|the"
    r"|this|that|there|we|our)\b|does\s+\w+\s+\w+|(?:tell me|i wonder|i was wondering|do you know"
    r"|guess)\b.{0,20}?\b(?:if|whether|what|which|who|where|how)\b)"
)
_SUPPOSES: Final = (
    r"\W*(?:(?:so|and|but|hey|ok|well)\b\W*)?(?:if|suppose|supposing|imagine|pretend|assume|assuming"
    r"|what if|say that|let's say|wenn|falls|angenommen|supposons|imaginons|supongamos)\b"
)
_OTHERS: Final = (
    rf"(?:(?:colleague|coworker|co-worker|friend|buddy|neighbou?r|team-?mate|flat-?mate|room-?mate"
    rf"|cousin|uncle|aunt|boss|manager|client|customer|mentor|intern|landlord|landlady|parent"
    rf"|family|relative|in-law|ex|new hire|assistant|predecessor|kolleg(?:e|in)|chef(?:in)?"
    rf"|freund(?:in)?|frau|mann|mutter|vater|schwester|bruder|tochter|sohn|nachbar(?:in)?|hund"
    rf"|katze|coll[eè]gue|femme|mari|amie?|m[eè]re|p[eè]re|s(?:\u0153|oe)ur|fr[eè]re|fille|fils"
    rf"|patronn?e?|voisine?|compa[nñ]er[oa]|colega|espos[oa]|mujer|marido|amig[oa]|madre|padre"
    rf"|herman[oa]|hij[oa]|jef[ea]|vecin[oa])(?:e?s|n|en)?|{KIN}s?|children)(?:'s)?\b"
)
# A window manager and a mail client are nobody.
_WHOM: Final = (
    rf"(?:{_MINE}|his|her|their|your|the|a|an|one of \w+)\s+"
    rf"(?:(?!\w+\s+(?:manager|client)s?\b)\w+\s+)?{_OTHERS}"
)
_THEY: Final = (
    r"(?:he|she|they|he's|she's|they're|his|her|their|you|you're|your|er|seine?|ihre?|du"
    r"|dein\w{0,2}|il|elle|ton|ta|[eé]l|ella|tu)"
)
_DOES: Final = (
    r"(?:lives|works|likes|uses|prefers|loves|hates|speaks|plays|eats|drinks|wants|moved"
    r"|is (?:called|named|from|based)|wohnt|arbeitet|hei\xdft|nutzt|benutzt|bevorzugt|vive|trabaja"
    r"|prefiere|usa)"
)
_OF_ANOTHER: Final = (
    rf"\W*(?:(?!{_I}\b|{_MINE}\b|user\b)[^\W_]+\W+){{0,2}}?"
    rf"(?:{_WHOM}|(?<!\w){_THEY}\b(?!:)|(?!{_I}\b|{_MINE}\b|user\b)[^\W\d_]+\s+{_DOES}\b)"
)
_BESIDE: Final = (
    rf"({_WHOM}(?:,? (?:is|named|called|is called|is named|namens|ist|est))?)"
    rf"(?:,?\s+(?!(?:{_I}|and|or|to|for|in|at|on|about|with|who|that)\b)[^\W\d_]+)"
)
_NAMED: Final = (
    r"(?:(?:full|first|last|given|real|preferred) )?(?:name|nickname|nom|nombre)\s*[:=]"
    r"|the user is (?:called|named)\b|the user's name\b"
)
_SPOKEN_TO: Final = r"(?:tell|ask(?:ed)?|cc|ping|thank|thanks|met|emailed) (?!me\b)\w"
_STRANGER: Final = rf"\b{_MINE} (?:\w+ )?{_OTHERS}|\b{_SPOKEN_TO}"
_ONESELF: Final = (
    rf"\b(?:{_I}|{_MINE}|me|mich|moi|here|this is|name|soy|llamo|m'appelle|sono|chiamo)\b"
)


# ---- where a sentence ends ----

# A run of marks is entered only at its start, or each of them would be gone through to its end.
_END: Final = r"(?<![.!?\u2026])(?P<mark>[.!?\u2026]++)[\"')\]*_]{0,3}(?=\s|\Z)|(?P<line>\n)"
_SHORTENED: Final = (
    r"\b(?:(?i:e\.g|i\.e|etc|approx|dr|mr|mrs|ms|prof|st|vs|nr|bzw|z\.b|[ap]\.m)|[A-Z])\.\Z"
)
_DENIES: Final = r"\s*(?:no|nope|nah|wrong|that's wrong|not quite|incorrect)(?:,? no)*"
# A bullet, a number or a box to tick before what is said.
_LEAD: Final = r"[\s>*+\u2022\u2013\u2014-]*+(?:\(?[0-9]{1,2}[.)]\s+|\[[ xX]\]\s+)?[*_]{0,3}"


def _is_shortened(mask: str, start: int, end: int) -> bool:
    """Whether a full stop belongs to a word like "Dr."."""
    return _pattern(_SHORTENED).search(mask, max(start, end - 8), end) is not None


def _goes_on(mask: str, start: int, found: re.Match[str]) -> bool:
    """Whether the line was wrapped, so that its end is none of the sentence."""
    at = found.start()
    long = at - max(mask.rfind("\n", 0, at) + 1, start) >= _WRAPPED
    return long and mask[found.end() : found.end() + 1].islower()


def _sentence(mask: str, start: int, end: int, mark: str) -> Iterator[Sentence]:
    if start < end and (lead := _pattern(_LEAD).match(mask, start, end)):
        start = lead.end()
    if 0 < end - start <= LONGEST:
        yield Sentence(start, end, mark)


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def any_case(pattern: str) -> re.Pattern[str]:
    """Return a pattern for any case, compiled when it is first needed."""
    return re.compile(pattern, re.IGNORECASE)


# ---- tags and comments ----

_TAG: Final = r"<!--|<(/?)([A-Za-z][\w-]{0,40})(?:\s[^<>]{0,200})?>"
_COMMENT: Final = "-->"


def _without_tags(text: str) -> str:
    """Return ``text`` with comments and whatever stands between two tags made blank."""
    if "<" not in text:
        return text
    found = list(_pattern(_TAG).finditer(text))
    closing = {_COMMENT: [end.end() for end in _pattern(_COMMENT).finditer(text)]}
    for tag in found:
        if tag[1]:
            closing.setdefault(tag[2], []).append(tag.end())
    parts, done = [], 0
    for tag in found:
        if tag.start() >= done:
            end = _end_of(tag, closing)
            blank = _pattern(r"[^\n]").sub(BLANK, text[tag.start() : end])
            parts += [text[done : tag.start()], blank]
            done = end
    return "".join(parts) + text[done:]


def _end_of(tag: re.Match[str], closing: dict[str, list[int]]) -> int:
    """Return where what begins with ``tag`` ends: at its partner, or with the tag itself."""
    ends = closing.get(tag[2] or _COMMENT, [])
    at = bisect_left(ends, tag.end())
    return tag.end() if tag[1] or at == len(ends) else ends[at]


# ---- lines that are shown ----

_FENCE: Final = r"\s{0,3}(?:[-*+] )?(```|~~~)"
_CODE_WORDS: Final = (
    "#include|INSERT|SELECT|UPDATE|apt|class|const|curl|def|echo|fn|func|function|import|npm|pip"
    "|struct|sudo|var"
)
_LEVELS: Final = "CRITICAL|DEBUG|ERROR|FATAL|INFO|NOTICE|TRACE|WARN|WARNING"
# A line of code, of a log or of somebody else: a quotation, a heading or a comment, a prompt.
_LINE: Final = (
    r"\s{0,3}>|\s*#|\s*//|\s*/\*|\s*\*/|\s*--\s|\s*[{}<]|\s*\[[\[{\"']"
    rf"|\s*(?:{_CODE_WORDS})\b[^\n]*[(){{}};=<>\"']\s*(?:\Z|[#/])"
    r"|[^\n]*(?:[;{}]|=>|\) ?:)\s*\Z|[^\n]*\)\s*(?:#|//)|(?:def|class) \w+[(:]"
    rf"|\s*\[?[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]|\s*\[?[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}"
    rf"|\s*(?:\[\w+\] )?\[?(?:{_LEVELS})\b[\]: ]|npm (?:ERR|WARN|error|warn)\b"
    r"|\s*[A-Za-z_.]{0,60}(?:Error|Exception|Warning)\b:|\s*at [\w.$]+\(|\s*File \"|E {2,}"
    r"|\s*\[?(?i:[\w./-]{0,40}(?:error|warning|warn|stderr|stdout|output|debug|fatal|hint"
    r"|usage))\]?(?:\[\w+\])?: ?\S|\s*\[(?:tool|system|assistant|function|output)\b|exit code [0-9]"
    r"|(?:diff --git|index [0-9a-f]{6}|@@ |\+\+\+ |--- )"
)
# What follows up to the next empty line is what a program printed.
_CONSOLE: Final = (
    r"\s*(?:[\w.-]+@[\w.-]+[:~][^\n]{0,80}[$#%] |[$%] \w|>>> |Traceback \(|C:\\[^>]*>"
    r"|(?:cat|head|tail|less|git (?:diff|log|show)) [\w./~-]+\s*\Z)"
)
_BLOCK: Final = r" {4}|\t"
_BULLET: Final = r"\s*(?:[-*+\u2022]|[0-9]{1,2}[.)])\s"


def _said(lines: list[str]) -> list[int]:
    """Return for each line how much of it is said; the rest is shown."""
    said = [0] * len(lines)
    fence, console, block, pasted = "", False, True, False
    is_diff = any(line.startswith(("diff --git", "@@ ")) for line in lines)
    own = _own_from(lines)
    for at, line in enumerate(lines[own:], own):
        if (mark := _pattern(_FENCE).match(line)) and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
            continue
        empty = not line.strip()
        console = not empty and (console or bool(_pattern(_CONSOLE).match(line)))
        indented = bool(_pattern(_BLOCK).match(line)) and not _pattern(_BULLET).match(line)
        block = empty or (block and indented)
        patch = is_diff and line.startswith(("+", "-", " "))
        code = bool(_pattern(_LINE).match(line))
        if not (fence or console or pasted or (indented and block) or patch or code):
            begins = _pasted_from(lines, at)
            pasted = begins >= 0
            said[at] = begins if pasted else len(line)
    return said


def _around(lines: list[str], said: list[int]) -> list[int]:
    """Return how much of each line is said if only the first and the last paragraph are.

    Where no line is empty, that is the first and the last line.
    """
    full = [at for at, line in enumerate(lines) if line.strip()]
    empty = [at for at in range(full[0], full[-1]) if not lines[at].strip()] if full else []
    first, last = (empty[0], empty[-1]) if empty else (1, len(lines) - 2)
    return [end if at < first or at > last else 0 for at, end in enumerate(said)]


# ---- texts that are pasted ----

_TEXT_WORK: Final = (
    "correct|improve|paraphrase|polish|proofread|reformulate|rephrase|reword|rewrite|shorten"
    "|spellcheck|summari[sz]e|translate|turn this|turn the following|tl;dr"
)
_LOOK_AT: Final = "analy[sz]e|check|edit|explain|fix|format|parse|review|read|classify|label"
_TEXT: Final = (
    "the following|this|these|below|sentence|paragraph|article|e?-?mail|text|grammar|letter|essay"
    "|quote|snippet|transcript|conversation|review"
)
_WORK_ON: Final = (
    rf"\s*(?:[\w ,']{{0,30}}?\b(?:you|please|to)[ ,])?(?:(?:{_TEXT_WORK})\b[^.!?\n]{{0,80}}[:.?]"
    rf"|(?:{_LOOK_AT})\b[^.!?\n]{{0,60}}\b(?:{_TEXT})\b[^.!?\n:]{{0,40}}:)(?=\s|\Z)"
)
_INTRODUCES: Final = (
    r"[^\n]{0,120}\b(?:say|says|said|reads|wrote|writes|printed|prints|posted|replied|got|received"
    r"|output|log|article|e-?mail|letter|message|page|error|paste|pasted|copied|excerpt|per the"
    r"|according to|prompt|lyrics|transcript|snippet|draft|example|template"
    r"|from the|from our|here's the|here is the|here's an?|here is an?"
    r"|here are the)\b[^\n]{0,60}:\s*\Z|\s*[\w./-]+\.\w{1,5}:\s*\Z"
    r"|\s*(?:subject|re|fwd?|from|sent|cc|reply-to): [^\n]*(?:@|\Z)(?<![.!?])"
)
_OWN_LIST: Final = r"\b(?:I|we|my|our|me)\b[^\n]{0,40}\b(?:rules|preferences|conventions)\b"


_ASKED_ABOUT: Final = (
    r"\b(?:what do you (?:think|make) of|how (?:do|should|would|can) i (?:answer|reply|respond)"
    r"|(?:draft|write) (?:an?|my|the) (?:answer|reply|response)|(?:is|are) (?:it|this|that|these"
    r"|those)(?: (?:list|rules?|text|advice|quote|policy)(?: from [\w ]{1,30}?)?(?: still)?"
    r"| still) (?:accurate|complete|correct|legal|legit|outdated|right|true|valid)|(?:make|turn"
    r"|change|check|correct|improve|polish|proofread|rewrite|shorten|translate) (?:this|that|my"
    r"|the) (?:draft|essay|e?-?mail|letter|message|note|paragraph|post|speech|text)|who (?:said"
    r"|wrote) (?:it|this|that))\b"
)


def _own_from(lines: list[str]) -> int:
    """Return the first line of what is asked about a text above it, which somebody else wrote."""
    last = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip()), 0)
    asks = last > 1 and not lines[last - 1].strip() and len(lines[last]) <= LONGEST
    return last if asks and any_case(_ASKED_ABOUT).search(lines[last]) else 0


def _pasted_from(lines: list[str], at: int) -> int:
    """Return where in a line somebody else's text begins, which goes on to the end, or -1.

    In a fence or a quotation it ends with these, and is known for what it is.
    """
    line = lines[at]
    found = any_case(_WORK_ON).match(line) or any_case(_INTRODUCES).match(line)
    if found is None or any_case(_OWN_LIST).search(line):
        return -1
    after = next((lines[to] for to in range(at + 1, len(lines)) if lines[to].strip()), "")
    fenced = _pattern(_FENCE).match(after) or _pattern(_LINE).match(after)
    return -1 if fenced and not line[found.end() :].strip() else found.end()


# ---- quotations and code within a line ----

_INLINE: Final = (
    r"``[^\n]{1,400}?``|`[^`\n]{1,400}`|\"[^\"\n]{1,400}\""
    r"|[\u201c\u201e\u201d][^\u201c\u201d\n]{1,400}[\u201c\u201d]|\u00ab[^\u00bb\n]{1,400}\u00bb"
    r"|(?<![\w'])'(?=\S)[^'\n]{1,400}(?:'(?=[a-z])[^'\n]{1,200}){0,4}'(?![\w'])"
    r"|\u2018[^\u2018\n]{1,400}?\u2019(?!\w)"
)
