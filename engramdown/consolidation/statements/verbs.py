"""Whether words are an order: the verbs that people give orders with, and what only looks like one.

Promises: any string may be passed; an order begins with the plain form of a verb, so that a
description of what something does ("never finishes") or did is none.
"""

from __future__ import annotations

import re
from typing import Final

from engramdown.language.words import word_set

__all__ = ["VERBS", "is_order"]

VERBS: Final = word_set(
    "abbreviate abort accept access acknowledge act adapt add address adhere adjust adopt "
    "advise agree aim alert align allow allowlist alphabetise alphabetize amend analyse analyze "
    "annotate announce anonymise anonymize answer append apply approach approve archive arrange "
    "ask assert assign assume attach audit author autoformat automate avoid await back backup "
    "base batch bcc be begin benchmark bind blacklist block bold book boot bracket branch break "
    "bring browse buffer build bump bundle buy cache calculate call cancel capitalise "
    "capitalize capture carry cast catch cc center centre change charge chat check cherry-pick "
    "choose cite clamp clarify clean clear click clone close code coerce collect combine come "
    "comment commit communicate compare compile complain complete compliment compress compute "
    "concatenate configure confirm connect consider consult contact continue convert cook copy "
    "count cover create credit crop cross cut date debug decide declare decline dedupe "
    "deduplicate default defer define defrag delegate delete deliver denylist depend deploy "
    "describe deserialise deserialize design detect develop diff dim disable discard discuss "
    "display distinguish divide do document double download draft draw drop dry-run echo edit "
    "embed emit emphasise emphasize enable encode encrypt end enforce enquire ensure enter "
    "escalate escape estimate evaluate exclude execute exit expand expect explain explore "
    "export expose express extend extract factor favor favour feed fetch file fill filter find "
    "finish fix flag flatten flip focus fold follow footnote force force-push forget format "
    "forward freeze generate get give go grant greet group guard guess guide handle hard-code "
    "hardcode hash have head help hide highlight hit hold hyperlink hyphenate ignore implement "
    "import include increase indent index inform inherit initialise initialize inject inline "
    "insert inspect install instrument interpolate interrupt introduce invent investigate "
    "invite invoke iron isolate italicise iterate join judge jump justify keep kill know label "
    "lead leave lecture let limit link lint list listen load localise localize lock log look "
    "lower lowercase lump mail maintain make manage map mark marshal mask match measure memoise "
    "memoize mention merge message migrate minify minimise minimize mix mock modify monitor "
    "mount move mute name namespace nest normalise normalize note notify nudge number obey "
    "offer omit open optimise optimize order organise organize output overlap override "
    "overwrite pack pad paginate panic paraphrase parenthesise parse pass paste patch pause pay "
    "perform pick pin ping pipe place plan play plot plug pluralise pluralize point polish poll "
    "post postpone prefer prefix prepare present preserve press pretend prevent preview print "
    "prioritise prioritize process produce profile promise prompt pronounce proofread propose "
    "protect prove provide prune pseudonymise publish pull purge push put quantify query quote "
    "raise rank read rebase reboot rebuild recommend reconcile record recycle redact reduce "
    "refactor refer reference reformat refresh refuse reimburse reindex reject relabel release "
    "reload rely remap remember remind remove rename render reorder repeat rephrase replace "
    "reply report reproduce request require rerun reschedule reserve reset resolve respect "
    "respond restart restate restore restrict retain retry return reuse reveal revert review "
    "revise revoke rewrite rinse rotate round route run salt sample sanitise sanitize "
    "sanity-check save say scan schedule score scrape scroll seal search season seed segment "
    "select sell send separate serialise serialize serve set share ship shorten shout show "
    "shuffle shut sign simplify sketch skim skip sleep slice slow snapshot snooze sort spawn "
    "speak specify spell split spread squash squeeze stage stamp star start state stay steer "
    "stick stop store stream strip structure stub style submit subscribe subtract suggest "
    "summarise summarize supply support suppress surface swap swear switch sync tabulate tag "
    "take talk target tax tee tell terminate test text thank throw tidy tie time timestamp tint "
    "tip toggle tokenise tokenize touch trace track transcribe transfer transform translate "
    "transliterate travel treat trigger trim triple truncate trust try turn tweak type "
    "underline understand undo unify uninstall unlink unlock unmask unplug unsubscribe unwrap "
    "update upgrade upload uppercase use vacuum validate vary vendor verify version vet view "
    "visit vote wait wake walk want warn wash watch water wear weave weigh whisper whitelist "
    "widen work worry wrap write yell zip zoom"
)
"""The plain forms of verbs that are plausible in an order to an assistant."""

# What may stand after "always" or "never" and makes no order of it.
_NO_ORDER: Final = word_set(
    "a actually afraid again ahead all almost alone also am an and angry another any are as at "
    "ate away back bad became been before began being best better bored both bought broke "
    "broken brought built busy but by came certain cheap chose chosen clear closer content "
    "could dead did different does done down drank drawn driven drove due dull early easy eaten "
    "either else enough even ever exactly fails fallen far fast faster fell felt few fine first "
    "flown for forgotten found from frozen fully fun funny gave given glad gone gonna good got "
    "gotten great green grew grown guilty had happens happy hard has he heard held her here "
    "hidden higher his how i if ill in interested into is it its just keen kept knew known late "
    "later laughed left less like likely long lost lovely lower made many me meant met mind "
    "mine more much my nearly need needed new nice no nor not nothing of off old older on once "
    "one only open or our out over own paid poor proud quick quiet quite ran ready really red "
    "right rude sad safe same saw seems seen sent she should shown silent simple slept slow "
    "slower so some something sometimes soon sooner sorry spent spoke spoken stolen stood "
    "strong stuck such sure taken taught than that the their them then there these they this "
    "those thought tired to told tomorrow too took true truly two under understood up very was "
    "we weak welcome well went were what when where which while who why wild will with woke won "
    "worn worse worth would written wrong wrote yes you young younger your"
)
# What one does without being ordered to: "never see it fail", "always end up here".
_HAPPENS: Final = re.compile(
    r"(?:be (?:able|allowed|possible|there|sure)\b|say never|see (?:it|that|this|such)"
    r"|hear (?:back|from)|end up|feel|seem|happen"
    r"|look(?:ed)? like|get (?:an?|the|this|that|some|to|it|any|back|stuck|lost|confused|used)\b"
    r"|have (?:\w+ed|been|come|done|had|left|made|said|seen|\w+en)\b"
    r"|have (?:i|we|to|the same|trouble|had|problems|issues)\b|know\b|expect(?: the)? \w+ to"
    r"|forget\b|find (?:it|myself)|hit (?:an?|the|this)\b|(?:work|run)s? (?:fine|well|before|for me"
    r"|on my)\b|let me (?:go|down)|need(?:ed)? |stop(?:ped)?\Z|change\Z|cheer (?:me|us)"
    r"|remind (?:me|us) of|make (?:me|us) \w+\Z|look forward to|give (?:up\b|you up)|lose hope"
    r"|(?:work|trust|end|learn|expect)\Z)"
)
# What everybody says, and nobody orders.
_SAYINGS: Final = re.compile(
    r"(?:say (?:die|never)|judge a book|bite the hand|look a gift|change a running|expect the unexp"
    r"|put off (?:till|until)|count your chick|meet your her|mix business|kiss and tell|cry wolf"
    r"|settle for|stop (?:believ|dream|explor|learn|play|smil)|give (?:up|in)\b|lose (?:faith|hope)"
    r"|go to bed angry|wake a sleeping|take no for|look (?:back|on the bright)"
    r"|be (?:yourself|too)\b"
    r"|follow your (?:dream|heart)|dream big|trust your (?:gut|inst)|hope for the best"
    r"|believe in (?:yourself|your dream)|have paris)"
)
_AFTER_A_VERB: Final = word_set(
    "a all an any both each every her his its me my our the their them these those us your"
)
# Forms that are no plain form: it pushes, pushed, pushing.
_FORMS: Final = re.compile(r".{2,}(?:[^s]s|ed|ing|ly|n't)")
_PLAIN_S: Final = word_set("alias bias canvas focus")
_SKIPPED: Final = re.compile(
    r"(?:(?:always|never|ever|also|please|just|first|either|immediately|explicitly|carefully|only"
    r"|simply|automatically|manually|directly|blindly|silently),? )*"
)
_WORD: Final = re.compile(r"[^\s,;:.!?()]+")


def is_order(words: str, *, surely: bool = False) -> bool:
    """Whether the small letters of ``words`` begin as an order does.

    Args:
        words: What is said, in small letters.
        surely: Whether what stands before says already that an order follows ("you must always"),
            so that an unknown word is a verb.

    >>> is_order("push to main"), is_order("pushes to main"), is_order("mind")
    (True, False, False)
    """
    skipped = _SKIPPED.match(words)
    rest = words[skipped.end() if skipped else 0 :]
    found = _WORD.match(rest)
    if found is None or _HAPPENS.match(rest) or _SAYINGS.match(rest):
        return False
    verb = found[0]
    if verb in VERBS or verb.partition("-")[0] in VERBS:
        return True
    if verb in _NO_ORDER or (_FORMS.fullmatch(verb) and verb not in _PLAIN_S):
        return False
    after = _WORD.match(rest, found.end() + 1)
    return surely or (after is not None and after[0] in _AFTER_A_VERB)
