"""Replaces words by plainer ones of the same meaning, from tables of certain and likely synonyms.

Pure, linear time, any string may be passed; words in code quotes, or in a path, an option or an
identifier, stay as they are, because there a word is a name.

Without these tables, duplicates that differ by an abbreviation or a common verb are missed; a
thesaurus or a model of meaning would find more of them, and take values for synonyms (*cat* for
*dog*). So a pair is here only if nobody means two things by it. A *likely* pair depends on the
sentence (*dev* is a developer, too): enough to ask a person, not to do without one.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from engramdown.language.claims import NUMBERS
from engramdown.language.words import word_set

# Each group is replaced by its first word.
_CERTAIN: Final = """
configuration config; configurations configs; database db; databases dbs; documentation docs;
repository repo; repositories repos; parameter param; parameters params; environment env;
environments envs; production prod; pull-request pr; pull-requests prs; javascript js;
kubernetes k8s; postgresql postgres; application app; applications apps; directory dir folder;
directories dirs folders; dependencies deps; message msg; messages msgs; function func;
functions funcs; specification spec; specifications specs; administrator admin;
administrators admins; information info; id ids; colour color; colours colors; favourite favorite;
behaviour behavior; licence license; licences licenses; email e-mail; emails e-mails;
organise organize; initialise initialize; parameterised parameterized; serialise serialize;
child kid; children kids; mother mom mum; father dad; television tv; address adress;
addresses adresses; allergic alergic; allergy alergy; accommodate accomodate; until untill;
which wich; tomorrow tommorow tommorrow; necessary neccessary; occurred occured;
calendar calender; separate seperate; receive recieve; definitely definitly definately;
always allways; the teh; their thier
"""
_LIKELY: Final = """
development dev; authentication auth; temporary temp tmp; variable var; variables vars;
large big; fast quick; short brief concise; immediately instantly; picture photo; pictures photos;
film movie; car automobile; maximum max; wrong incorrect; daily everyday; small little tiny;
often frequently; usually normally; flat apartment; flats apartments; holiday vacation;
holidays vacations; trash garbage rubbish; developer programmer; developers programmers
"""
_VERBS: Final = """
use employ utilize utilise; run execute; remove delete erase; show display; check verify;
make create; start begin commence; finish end; tell inform notify; keep retain; pick choose select;
get fetch retrieve obtain; change modify alter; need require; reply answer respond; like enjoy;
configure set-up; buy purchase; help assist; allow permit; live reside;
close shut; put place; try attempt; speak talk; collect gather; repair mend; leave depart;
prefer favor favour; phone telephone; reduce decrease; happen occur
"""
_IRREGULAR: Final = """
started began; started begun; picked chose; picked chosen; told informed; told notified;
kept retained; got fetched; got retrieved; got obtained; spoke talked
"""
# Fillers are left out; a phrase at the beginning only if it introduces the rest.
_FILLERS: Final = re.compile(
    r"\A(?:(?:please|note|remember|keep in mind|bear in mind|be aware|it turns out|it seems)"
    r"(?: that)?|(?:make|be) sure (?:to|that|you)|it is important (?:to|that)|ensure(?: that)?"
    r"|try to|just|actually|basically|in general|generally|of course|you should|we should"
    r"|you must|we must)(?:,| )\s*(?=\S)"
    r"|\b(?:really|very|currently|already|please)\b[ ]?|(?<=\bevery )single (?=\w)"
    r"|(?<=\bthe )(?:entire|whole) (?=\w)|(?<!not )(?<!at )\ball (?=(?!but\b|day|night)\w)",
    re.IGNORECASE,
)
_PHRASES: Final = {
    "prior to": "before", "at once": "immediately", "right away": "immediately",
    "straight away": "immediately", "refrain from": "avoid", "refrains from": "avoids",
    "every night": "nightly", "each night": "nightly", "every day": "daily", "each day": "daily",
    "every week": "weekly", "each week": "weekly", "every month": "monthly",
    "each month": "monthly", "set up": "configure", "sets up": "configures", "each": "every",
    "any": "every", "pull request": "pull-request", "pull requests": "pull-requests",
    "has to": "should", "have to": "should", "needs to": "should", "need to": "should",
    "ought to": "should", "in order to": "to", "as soon as": "when", "whenever": "when",
    "in case": "if", "at all times": "always", "under no circumstances": "never",
    "on a daily basis": "daily", "once a day": "daily", "once a week": "weekly",
    "once a month": "monthly",
    "'s name is": " is", "my name is": "I am", "works as": "is",
    "work as": "am", "switch off": "turn off", "switches off": "turns off",
    "switch on": "turn on", "switches on": "turns on", "while": "when", "per cent": "%",
    "percent": "%", "not need to": "optionally", "not have to": "optionally",
    "need not": "optionally", "dislike": "do not like", "dislikes": "does not like",
    "is located": "is", "are located": "are", "is based in": "lives in", "am based in": "live in",
    "implemented in": "written in", "owns": "has", "once the": "after the",
    "email address": "email", "e-mail address": "email", "approximately": "about",
    "roughly": "about", "cannot stand": "hate", "cannot bear": "hate",
    "is forbidden": "is not", "are forbidden": "are not", "is prohibited": "is not",
    "are prohibited": "are not", "is not allowed": "is not", "are not allowed": "are not",
    "is not permitted": "is not", "are not permitted": "are not", "exceeds": "is over",
    "exceed": "are over", "the name of the": "the", "due to": "because of", "every year": "yearly",
    "each year": "yearly", "annually": "yearly", "every hour": "hourly", "each hour": "hourly",
    "at the weekend": "on weekends", "at weekends": "on weekends",
    "in alphabetical order": "alphabetically", "in chronological order": "chronologically",
    "1st": "first", "2nd": "second", "3rd": "third",
}  # fmt: skip
_PHRASE: Final = re.compile(
    rf"(?:(?<!\w)(?=\w)|(?='))(?:{'|'.join(_PHRASES)})(?!\w)", re.IGNORECASE
)
# A number and its unit are one word, so that no other unit is like it.
_UNITS: Final = {
    unit: first
    for first, *others in (
        ("s", "sec", "secs", "second", "seconds"), ("min", "mins", "minute", "minutes"),
        ("h", "hr", "hrs", "hour", "hours"), ("ms", "millisecond", "milliseconds"),
        ("day", "days"), ("week", "weeks"), ("month", "months"), ("year", "years"),
        ("kb",), ("mb",), ("gb",), ("tb",), ("kib",), ("mib",), ("gib",),
        ("mm",), ("cm",), ("km",), ("kg",), ("g", "gram", "grams"), ("ml",), ("px",), ("%",),
        ("am", "a.m"), ("pm", "p.m"),
    )
    for unit in (first, *others)
}  # fmt: skip
_COUNTS: Final = {"one": "1"} | NUMBERS
_NUMBER: Final = rf"(?:[0-9]+|{'|'.join(_COUNTS)})"
# "3 to 5" is "3-5", and "two-space" speaks of two spaces.
_RANGE: Final = re.compile(rf"\b({_NUMBER}) to ({_NUMBER})\b(?![.:/-])", re.IGNORECASE)
_COUNTED: Final = re.compile(rf"\b({'|'.join(_COUNTS)})-(?=[^\W\d])", re.IGNORECASE)
_LONGEST_FIRST: Final = sorted(map(re.escape, _UNITS), key=len, reverse=True)
_UNIT: Final = re.compile(
    rf"(?<![\w.,/:-])([0-9]+(?:[.,:][0-9]+)*|{'|'.join(_COUNTS)})"
    rf"(?:(?<=[0-9])|[ -])[ -]?({'|'.join(_LONGEST_FIRST)})(?![\w/-])",
    re.IGNORECASE,
)
# "up to 5" means "at most 5", but "up to date" does not.
_BOUND: Final = re.compile(
    r"\b(?:(up to|an? maximum of|no more than|not more than)"
    r"|(an? minimum of|no (?:less|fewer) than)|(above|more than|greater than|exceeding)"
    rf"|(below|less than|fewer than)|around) (?=[0-9]|(?:{'|'.join(_COUNTS)})\b)",
    re.IGNORECASE,
)
_BOUNDS: Final = ("about", "at most", "at least", "over", "under")
# Claims are read as "tabs rather than spaces".
_PREFERRED: Final = re.compile(
    r"\b(prefer(?:s|red)?(?: [\w-]+){1,4}?) to (?!(?:be|have|get|use)\b)", re.IGNORECASE
)
# Irregular participles, replaced by regular ones so that they are a form of the verb. Verbs that
# add little have all their forms in a table.
_PARTICIPLES: Final = {
    done: f"{verb.removesuffix('e')}ed"
    for verb, done in (
        pair.split("/")
        for pair in word_set(
            "bend/bent bind/bound bleed/bled breed/bred bring/brought build/built buy/bought "
            "catch/caught deal/dealt dig/dug do/done draw/drawn drive/driven eat/eaten feed/fed "
            "fight/fought find/found fly/flown freeze/frozen grow/grown hang/hung "
            "hear/heard hide/hidden hold/held know/known lend/lent "
            "lose/lost mean/meant meet/met pay/paid say/said see/seen sell/sold "
            "send/sent shake/shaken shoot/shot show/shown sing/sung speak/spoken spend/spent "
            "steal/stolen stick/stuck sweep/swept take/taken teach/taught tell/told think/thought "
            "throw/thrown understand/understood wake/woken wear/worn win/won "
            "break/broken forget/forgotten begin/begun "
            "set/set shut/shut"
        )
    )
}
_AGAIN: Final = "(?:re|un|over|out|fore)?"
_DONE: Final = re.compile(
    rf"\b(is|are|was|were|be|been|being)((?: \w+ly)? )({_AGAIN})({'|'.join(_PARTICIPLES)})\b",
    re.IGNORECASE,
)
# "it gets cancelled", but not "it gets speed".
_GETS: Final = re.compile(
    rf"\b(gets?|got)(?= (?:\w+ly )?(?:\w+[^\We]ed|{_AGAIN}(?:{'|'.join(_PARTICIPLES)}|chosen|cut"
    r"|given|kept|left|made|put|read|run|written))\b)",
    re.IGNORECASE,
)
# "the box is called Hydra", but not "is named after a snake".
_CALLED: Final = re.compile(
    r"\b(is|are) (?:called|named)\b(?! (?:after|by|for|from|if|in|off|on|out|up|when|with)\b)",
    re.IGNORECASE,
)
_IS: Final = {"get": "are", "gets": "is", "got": "was"}
# The keys of facts about the user.
_KEYS: Final = {"name": "is", "location": "lives in"}
_KEYED: Final = re.compile(r"\A(name|location): ", re.IGNORECASE)
# "answers that are short"
_RELATIVE: Final = re.compile(
    r"\b(\w+) (?:that|which) (?:is|are) (\w+)(?=[.,;]|\Z)(?<!ed)(?<!ing)(?<!not)", re.IGNORECASE
)
_CONTRACTIONS: Final = (
    (re.compile(r"\bcan't\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"(?<=\w)n't\b", re.IGNORECASE), " not"),
    (re.compile(r"(?<=\w)'re\b", re.IGNORECASE), " are"),
    (re.compile(r"(?<=\w)'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"(?<=\w)'ll\b", re.IGNORECASE), " will"),
    (re.compile(r"(?<=\bi)'m\b", re.IGNORECASE), " am"),
    (re.compile(r"\b(?<!\w)(it|that|there|here|he|she|what|who)'s\b", re.IGNORECASE), r"\1 is"),
)
# A word that is not a part of something longer, like my-db, db.py, --env, #dev or /tmp.
_WORD: Final = re.compile(r"(?<![\w./\\#@$&=:-])[^\W_][\w-]*(?![\w/\\@&=]|[.:-]\w)")
_CODE: Final = re.compile(r"(`[^`\n]*`)")


@lru_cache(maxsize=2048)
def plain(text: str, *, likely: bool = True) -> str:
    """Return ``text`` in plainer words, only for comparisons.

    Args:
        text: Any text.
        likely: Also replace likely synonyms.

    >>> plain("Please execute the tests in the dev env"), plain("Open `db` from db.py")
    ('run the tests in the development environment', 'Open `db` from db.py')
    """
    parts = _CODE.split(text.replace("\u2019", "'").replace("*", ""))
    # Quotes of code are at the odd places.
    return "".join(
        part if at % 2 else _plainer(part, likely=likely) for at, part in enumerate(parts)
    )


def _plainer(text: str, *, likely: bool) -> str:
    for pattern, words in _CONTRACTIONS if "'" in text else ():
        text = pattern.sub(words, text)
    left = _FILLERS.sub("", _FILLERS.sub("", text))
    text = left if left.strip() else text
    text = _KEYED.sub(lambda found: f"user {_KEYS[found[1].casefold()]} ", text)
    text = _PHRASE.sub(lambda found: _PHRASES[found[0].casefold()], text)
    text = _RANGE.sub(_range, text)
    text = _BOUND.sub(_bound, text)
    text = _UNIT.sub(_one_word, text)
    text = _COUNTED.sub(r"\1 ", text)
    text = _CALLED.sub(r"\1", text)
    text = _GETS.sub(lambda found: _IS[found[1].casefold()], text)
    text = _DONE.sub(_regular, text)
    text = _RELATIVE.sub(r"\2 \1", text)
    text = _PREFERRED.sub(r"\1 over ", text)
    plainer = _words(likely=likely)
    return _WORD.sub(lambda found: plainer.get(found[0].casefold(), found[0]), text)


def _regular(found: re.Match[str]) -> str:
    """Return a form of *be* with a regular participle."""
    return f"{found[1]}{found[2]}{found[3]}{_PARTICIPLES[found[4].casefold()]}"


def _range(found: re.Match[str]) -> str:
    """Return a range of numbers in digits."""
    ends = (end.casefold() for end in found.groups())
    return "-".join(_COUNTS.get(end, end) for end in ends)


def _bound(found: re.Match[str]) -> str:
    """Return a bound in plain words."""
    return f"{_BOUNDS[found.lastindex or 0]} "


def _one_word(found: re.Match[str]) -> str:
    """Return a number and its unit as one word."""
    number = found[1].casefold()
    return _COUNTS.get(number, number) + _UNITS[found[2].casefold()]


@cache
def _words(*, likely: bool) -> dict[str, str]:
    plainer = _read(_CERTAIN)
    if likely:
        plainer |= _read(_LIKELY) | _read(_IRREGULAR)
        for word, other in _read(_VERBS).items():
            for inflected, form in zip(_forms(word), _forms(other), strict=True):
                plainer.setdefault(inflected, form)
    return plainer


def _read(table: str) -> dict[str, str]:
    groups = [group.split() for group in table.split(";")]
    return {other: first for first, *others in groups for other in others}


def _forms(verb: str) -> tuple[str, str, str, str]:
    """Return a verb with its endings, as regular ones have them."""
    stem = verb.removesuffix("e")
    doubled = stem + stem[-1] if verb in ("run", "begin", "get", "permit") else stem
    hissing = verb.endswith(("s", "x", "sh", "ch"))
    third = f"{verb[:-1]}ies" if verb.endswith("fy") else f"{verb}{'es' if hissing else 's'}"
    past = f"{verb[:-1]}ied" if verb.endswith("fy") else f"{doubled}ed"
    return verb, third, past, f"{doubled}ing"
