"""Other words for the same, in two small tables: what is certain, and what is likely.

Promises: pure, linear time, any string may be passed; what stands in code quotes or is part of a
path, an option or an identifier is not touched, because there a word is a name.

Without these, duplicates that differ by an abbreviation or a common verb are not seen; a thesaurus
or a model of meaning would see more of them, and take values for synonyms (*cat* for *dog*). So a
word is here only if nobody means two things by the pair. What is *likely* depends on the sentence
(*dev* is a developer, too): it is enough to ask a person, not to do without one.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

__all__ = ["plain"]

# The first is what the others are read as.
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
often frequently; usually normally
"""
_VERBS: Final = """
use employ utilize utilise; run execute; remove delete erase; show display; check verify;
make create; start begin commence; finish end; tell inform notify; keep retain; pick choose select;
get fetch retrieve obtain; change modify alter; need require; reply answer respond; like enjoy;
configure set-up; buy purchase; help assist; allow permit; live reside;
close shut; put place; try attempt; speak talk
"""
_IRREGULAR: Final = """
started began; started begun; picked chose; picked chosen; told informed; told notified;
kept retained; got fetched; got retrieved; got obtained; spoke talked
"""
# What adds nothing: it is left out. A phrase at the beginning only where it introduces the rest.
_FILLERS: Final = re.compile(
    r"\A(?:(?:please|note|remember|keep in mind|bear in mind|be aware|it turns out|it seems)"
    r"(?: that)?|(?:make|be) sure (?:to|that|you)|it is important (?:to|that)|ensure(?: that)?"
    r"|try to|just|actually|basically|in general|generally|of course|you should|we should"
    r"|you must|we must)(?:,| )\s*(?=\S)"
    r"|\b(?:really|very|currently|please)\b[ ]?|(?<=\bevery )single (?=\w)"
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
    "once a month": "monthly", "is called": "is", "is named": "is", "are called": "are",
}  # fmt: skip
_PHRASE: Final = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\b", re.IGNORECASE)
_UNITS: Final = {"min": "minutes", "sec": "seconds", "hr": "hours"}
_UNIT: Final = re.compile(r"(?<=[0-9] )(min|sec|hr)s?\b")
_CONTRACTIONS: Final = (
    (re.compile(r"\bcan't\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"(?<=\w)n't\b", re.IGNORECASE), " not"),
    (re.compile(r"(?<=\w)'re\b", re.IGNORECASE), " are"),
    (re.compile(r"(?<=\w)'ve\b", re.IGNORECASE), " have"),
)
# A word that is no part of something longer: of my-db, db.py, --env, #dev or /tmp.
_WORD: Final = re.compile(r"(?<![\w./\\#@$&=:-])[^\W_][\w-]*(?![\w/\\@&=]|[.:-]\w)")
_CODE: Final = re.compile(r"(`[^`\n]*`)")


@lru_cache(maxsize=2048)
def plain(text: str, *, likely: bool = True) -> str:
    """Return ``text`` in plainer words, for a comparison and never to be kept.

    Args:
        text: Any text.
        likely: Also read what is likely the same as the same.

    >>> plain("Please execute the tests in the dev env"), plain("Open `db` from db.py")
    ('run the tests in the development environment', 'Open `db` from db.py')
    """
    said = text.replace("\u2019", "'").replace("*", "")
    parts = _CODE.split(said)
    # Quotes of code stand at the odd places.
    return "".join(
        part if at % 2 else _plainer(part, likely=likely) for at, part in enumerate(parts)
    )


def _plainer(text: str, *, likely: bool) -> str:
    for pattern, words in _CONTRACTIONS if "'" in text else ():
        text = pattern.sub(words, text)
    left = _FILLERS.sub("", _FILLERS.sub("", text))
    text = left if left.strip() else text
    text = _PHRASE.sub(lambda found: _PHRASES[found[0].casefold()], text)
    text = _UNIT.sub(lambda found: _UNITS[found[1]], text)
    known = _words(likely=likely)
    return _WORD.sub(lambda found: known.get(found[0].casefold(), found[0]), text)


@cache
def _words(*, likely: bool) -> dict[str, str]:
    found = _read(_CERTAIN)
    if likely:
        found |= _read(_LIKELY) | _read(_IRREGULAR)
        for word, other in _read(_VERBS).items():
            for inflected, form in zip(_forms(word), _forms(other), strict=True):
                found.setdefault(inflected, form)
    return found


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
