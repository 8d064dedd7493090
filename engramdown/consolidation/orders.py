"""The forms of words that give an order: always, never, from now on, the rule here, when …, do ….

An order is found only where a clause begins with one, in the plain form of a verb, so a description
("the test always fails"), a question and a story about others are none; neither is what is said for
now, for one thing or for a case that comes once. Linear time.
"""

from __future__ import annotations

import re
from typing import Final

from engramdown.consolidation.statement_forms import (
    DONT,
    FROM_NOW,
    SCREEN,
    Form,
    Said,
    is_passing,
    pattern,
    slips,
)
from engramdown.engram import Confidence, Kind
from engramdown.language.words import word_set

# ---- verbs of orders ----

VERBS: Final = word_set(
    "abbreviate abort accept access acknowledge act adapt add address adhere adjust adopt advise "
    "agree aim alert align allow allowlist alphabetise alphabetize amend analyse analyze annotate "
    "announce anonymise anonymize answer append apply approach approve archive arrange ask assert "
    "assign assume attach audit author autoformat automate avoid await back backup base batch bcc "
    "be begin benchmark bind blacklist block bold book boot bracket branch break bring browse "
    "buffer build bump bundle buy cache calculate call cancel capitalise capitalize capture carry "
    "cast catch cc center centre change charge chat check cherry-pick choose cite clamp clarify "
    "clean clear click clone close code coerce collect combine come comment commit communicate "
    "compare compile complain complete compliment compress compute concatenate configure confirm "
    "connect consider consult contact continue convert cook copy count cover create credit crop "
    "cross cut date debug decide declare decline dedupe deduplicate default defer define defrag "
    "delegate delete deliver denylist depend deploy describe deserialise deserialize design detect "
    "develop diff dim disable discard discuss display distinguish divide do document double "
    "download draft draw drop dry-run echo edit embed emit emphasise emphasize enable encode "
    "encrypt end enforce enquire ensure enter escalate escape estimate evaluate exclude execute "
    "exit expand expect explain explore export expose express extend extract factor favor favour "
    "feed fetch file fill filter find finish fix flag flatten flip focus fold follow footnote "
    "force force-push forget format forward freeze generate get give go grant greet group guard "
    "guess guide handle hard-code hardcode hash have head help hide highlight hit hold hyperlink "
    "hyphenate ignore implement import include increase indent index inform inherit initialise "
    "initialize inject inline insert inspect install instrument interpolate interrupt introduce "
    "invent investigate invite invoke iron isolate italicise iterate join judge jump justify keep "
    "kill know label lead leave lecture let limit link lint list listen load localise localize "
    "lock log look lower lowercase lump mail maintain make manage map mark marshal mask match "
    "measure memoise memoize mention merge message migrate minify minimise minimize mix mock "
    "modify monitor mount move mute name namespace nest normalise normalize note notify nudge "
    "number obey offer omit open optimise optimize order organise organize output overlap override "
    "overwrite pack pad paginate panic paraphrase parenthesise parse pass paste patch pause pay "
    "perform pick pin ping pipe place plan play plot plug pluralise pluralize point polish poll "
    "post postpone prefer prefix prepare present preserve press pretend prevent preview print "
    "prioritise prioritize process produce profile promise prompt pronounce proofread propose "
    "protect prove provide prune pseudonymise publish pull purge push put quantify query quote "
    "raise rank read rebase reboot rebuild recommend reconcile record recycle redact reduce "
    "refactor refer reference reformat refresh refuse reimburse reindex reject relabel release "
    "reload rely remap remember remind remove rename render reorder repeat rephrase replace reply "
    "report reproduce request require rerun reschedule reserve reset resolve respect respond "
    "restart restate restore restrict retain retry return reuse reveal revert review revise revoke "
    "rewrite rinse rotate round route run salt sample sanitise sanitize sanity-check save say scan "
    "schedule score scrape scroll seal search season seed segment select sell send separate "
    "serialise serialize serve set share ship shorten shout show shuffle shut sign simplify sketch "
    "skim skip sleep slice slow snapshot snooze sort spawn speak specify spell split spread squash "
    "squeeze stage stamp star start state stay steer stick stop store stream strip structure stub "
    "style submit subscribe subtract suggest summarise summarize supply support suppress surface "
    "swap swear switch sync tabulate tag take talk target tax tee tell terminate test text thank "
    "throw tidy tie time timestamp tint tip toggle tokenise tokenize touch trace track transcribe "
    "transfer transform translate transliterate travel treat trigger trim triple truncate trust "
    "try turn tweak type underline understand undo unify uninstall unlink unlock unmask unplug "
    "unsubscribe unwrap update upgrade upload uppercase use vacuum validate vary vendor verify "
    "version vet view visit vote wait wake walk want warn wash watch water wear weave weigh "
    "whisper whitelist widen work worry wrap write yell zip zoom"
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
    r"(?:be (?:able|allowed|possible|there|sure)\b|say never|see (?:it|that|this|such)|hear (?:back"
    r"|from)|end up|feel|seem|happen|look(?:ed)? like|get (?:an?|the|this|that|some|to|it|any|back"
    r"|stuck|lost|confused|used)\b|have (?:\w+ed|been|come|done|had|left|made|said|seen|\w+en)\b"
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
    r"|go to bed angry|wake a sleeping|take no for|look (?:back|on the bright)|be (?:yourself"
    r"|too)\b|follow your (?:dream|heart)|dream big|trust your (?:gut|inst)|hope for the best"
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


_YOU: Final = r"(?:you|u|we|ya)"
_MUST: Final = (
    rf"(?:{_YOU}(?: (?:should|must|have to|need to|ought to|shall|will|had better|are to"
    r"|are supposed to)|'ll|'d better|'re to)|must|should|shall)"
)
_I_WANT: Final = (
    rf"(?:(?:i|we)(?:'d| would| do| really)? (?:want|need|expect|like|prefer|ask|love) {_YOU} to)"
)
_IMPORTANT: Final = "important|essential|crucial|vital|imperative|critical|necessary|best"
_CARE: Final = (
    rf"(?:(?:make|be|making) (?:very |absolutely )?sure(?: that)?(?: {_YOU}| to)?"
    rf"|ensure(?: that)?(?: {_YOU})?|see to it that {_YOU}|(?:try|remember|take care) to"
    rf"|let's|lets|let us|it(?:'s| is) (?:\w{{2,12}} )?(?:{_IMPORTANT})"
    rf"(?: for you)?(?: that {_YOU}| to| {_YOU})?|please|kindly)"
)
TO_YOU: Final = rf"(?:(?:{_MUST}|{_I_WANT}|{_CARE})(?: please| pls| also)? )"
"""What stands before an order: "you should", "I want you to", "make sure to"."""

_NO_MATTER: Final = (
    r"(?:please|pls|without (?:any )?exceptions?|no exceptions?|no matter what|at all times"
    r"|(?:if|where|when|whenever|wherever) possible|and i mean (?:always|never|it)"
    r"|under (?:any|all|no) circumstances?|in any case|on any account|whatever happens)"
)
"""What may stand between *always* or *never* and the order, and adds nothing."""

_ALWAYS: Final = (
    rf"(?P<to>{TO_YOU}|we )?(?:al+ways|{slips('always')})(?:(?:,| and)? (?:always|forever))*"
    rf"(?:,? {_NO_MATTER})*(?P<colon>:)?,?(?: |\Z)(?P<rest>)"
)
_NEVER: Final = (
    rf"(?P<to>{TO_YOU}|we |you may |you(?:'re| are) (?=never (?:allowed )?to\b))?(?:"
    rf"{slips('never')}(?:,? (?:ever|again))*(?:,? {_NO_MATTER})*[,:]? |{DONT} (?:you )?ever "
    rf"|{DONT},? {_NO_MATTER},? )(?P<may>allowed to |to )?(?P<rest>)"
)
_MAY_NOT: Final = (
    r"(?:you (?:must|may|shall) not|you mustn't|you(?: are|'re) not (?:allowed|permitted) to) "
    r"(?!(?:actually|agree|always|be|believe|care|come|even|exist|expect|feel|find|get|happen|have"
    r"|hear|know|like|mind|need|notice|realize|recogni[sz]e|remember|see|think|understand|want"
    r"|work|yet)\b)(?P<rest>)"
)
"""How an order forbids once and for all; "you can't" and "you may not know" only describe."""
# "You will never guess" and "we will always have it" only tell what comes.
_FORETELLS: Final = (
    r"we(?:'ll| will| shall) |you(?:'ll| will| shall) (?:always|never) (?:be|believe|feel|find"
    r"|forget|get|guess|have|know|learn|love|meet|regret|see|understand|walk|win)\b"
)


def _always(words: str, at: int) -> Said | None:
    """Read "always …", "you should always …", "we always …"."""
    found = pattern(_ALWAYS).match(words, at)
    if found is None or pattern(_FORETELLS).match(words, at):
        return None
    start = found.start("rest")
    rest = words[start:]
    sure = found["to"] not in (None, "we ")
    if is_passing(rest, firm=True) or not rest.strip():
        return None
    ordered = found["colon"] is not None or is_order(rest, surely=sure)
    return Said("always", "high", start, len(words), "Always") if ordered else None


def _never(words: str, at: int) -> Said | None:
    """Read "never …", "you must never …", "we never …", "don't ever …"."""
    found = pattern(_NEVER).match(words, at)
    if found is None or pattern(_FORETELLS).match(words, at):
        return None
    rest = words[found.start("rest") :]
    # Few words but verbs stand behind it, if others follow.
    sure = found["to"] != "we " and (found["to"] is not None or " " in rest)
    if is_passing(rest, firm=True) or not is_order(rest, surely=sure):
        return None
    return Said("never", "high", found.start("rest"), len(words), "Never")


def _may_not(words: str, at: int) -> Said | None:
    """Read "you must not …", "you are not allowed to …"."""
    found = pattern(_MAY_NOT).match(words, at)
    if found is None:
        return None
    rest = words[found.start("rest") :]
    if is_passing(rest) or not is_order(rest):
        return None
    return Said("never", "medium", found.start("rest"), len(words), "Never")


# ---- what I want ----

_WANT: Final = (
    r"(?:i|we) (?P<how>always|never) (?:ever )?(?:want|need|expect|wish)\b(?! to (?:know|go|be)\b)"
)
_NOT_WANT: Final = (
    rf"(?:i|we) (?P<how>{DONT}) (?:ever (?:want|wanna)\b|(?:want|wanna|need) [^\n]+"
    rf" (?:ever again|again|any ?more|ever|{FROM_NOW})\Z)"
)


def _wanted(words: str, at: int) -> Said | None:
    """Read "I never want …", "I always want …", "I don't want … ever again"."""
    found = pattern(_WANT).match(words, at) or pattern(_NOT_WANT).match(words, at)
    if found is None or is_passing(words[at:]):
        return None
    return Said("always" if found["how"] == "always" else "never", "high", at, len(words))


# ---- not again ----

_AGAIN: Final = (
    rf"(?:{TO_YOU}?{DONT}|{TO_YOU}not|you (?:should|must|may)(?: not|n't)|(?:you )?mustn't) (?!worr"
    rf"y|bother|mind|panic|wait|be\b|make me\b|tell me you\b)(?P<rest>[^\n]+?),? (?:ever again"
    rf"|again|any ?more|ever|at all|no matter what|under any circumstances?"
    rf"|{FROM_NOW})\b(?!,? (?:i'm|i am|we're|we are|it's|the [\w-]+ is|yet|still|before|until)\b)"
)
_STOP: Final = (
    r"(?:stop|quit|cease|refrain from) (?!being\b)\w+ing\b"
    r" (?!(?:the|that|this|it)\b|[^\n]* and )(?=\S)"
)
_NO: Final = (
    rf"no (?:more )?[\w -]{{2,40}}?,? (?:ever|{FROM_NOW})\b"
    r"|no more (?!(?:questions?|time|ideas?|info|problems?|errors?|issues?|bugs?|today)\b)"
    r"[\w-]+(?: (?!left\b)[\w-]+)?(?: in [\w ]{3,30})?\Z"
    r"|no (?!(?:one|idea|need|problem|way|luck|changes?|errors?|results?|new|longer)\b)"
    r"[\w-]+(?: [\w-]+)? in (?:this|our|my) (?:repo|repository|project|code ?base|house)\Z"
)
_NEVER_EVER: Final = (
    r"(?:under no circumstances?|in no case|on no account|at no time),? "
    r"(?:(?:should|must|may|do|are) (?:you|we) )?"
)


def _not_again(words: str, at: int) -> Said | None:
    """Read "don't … again", "don't … anymore", "do not … in future"."""
    found = pattern(_AGAIN).match(words, at)
    if found is None or is_passing(words[at:]) or not is_order(found["rest"], surely=True):
        return None
    return Said("never", "high", found.start("rest"), len(words), "Never")


def _stop(words: str, at: int) -> Said | None:
    """Read "stop doing …", "no more …", "no … ever"."""
    stops = pattern(_STOP).match(words, at)
    if is_passing(words[at:]) or not (stops or pattern(_NO).match(words, at)):
        return None
    return Said("never", "medium" if stops else "high", at, len(words))


_IN_REPLIES: Final = (
    rf"(?:please )?{DONT} [^\n]+ (?:in|at the (?:end|start) of) (?:your|any|all|every|each"
    rf"|my)(?: of your)? (?:replies|reply|answers?|responses?|messages?|e?-?mails?|commit messages"
    rf"|comments|code)\b|(?:please )?{DONT} [^\n]+ (?:every|each) (?:single )?time\Z"
)


def _in_replies(words: str, at: int) -> Said | None:
    """Read "don't … in your replies", "don't … every time"."""
    found = pattern(_IN_REPLIES).match(words, at)
    if found is None or is_passing(words[at:]):
        return None
    return Said("never", "medium", at, len(words))


def _no_circumstances(words: str, at: int) -> Said | None:
    """Read "under no circumstances …"."""
    found = pattern(_NEVER_EVER).match(words, at)
    if found is None or not is_order(words[found.end() :], surely=True):
        return None
    return Said("never", "high", found.end(), len(words), "Never")


# ---- what must be ----

# What an assistant makes again and again.
_MADE: Final = (
    r"(?:your |my |our )?(?:(?:commit messages|variable names|file names|class names|function names"
    r"|branch names|pr titles|docstrings|code comments|answers|replies|responses|summaries"
    r"|explanations|commits|pull requests|prs|e-?mails|recipes|itineraries|meal plans|reports)\b)"
)
_EVERYTHING: Final = (
    r"(?:all|every|each|any) [\w -]{2,40}?(?: must| should| ha(?:s|ve) to| needs? to) "
    r"(?:(?P<no>never|not) )?(?!have (?:\w+ed|been|gone|come|lost|left)\b)\w"
    rf"|{_MADE}(?: must| should| have to| need to) (?P<nor>not )?(?:have (?!been\b)|use|start|end"
    r"|contain|include|follow|fit|stay|go|list|be (?!(?:back|done|easy|fine|gone|good|here|ok|okay"
    r"|ready|there|working)\b))"
    r"|(?!(?:the|this|that|it|he|she|they|i|you|we|there|a|an|my|your|our)\b)[\w -]{2,40}?s"
    r" (?:must|should|may|are to|need to|have to) (?:always|(?P<nay>never)) \w"
)
_ABOUT_A_SCREEN: Final = rf"(?:\w+ )?(?:[\w-]+ )?{SCREEN}"


def _everything(words: str, at: int) -> Said | None:
    """Read "all … must …", "… must never …", if it is not about what a program shows."""
    found = pattern(_EVERYTHING).match(words, at)
    if found is None or is_passing(words[at:]) or pattern(_ABOUT_A_SCREEN).match(words, at):
        return None
    forbids = found["no"] or found["nor"] or found["nay"]
    kind: Kind = "never" if forbids else "always"
    return Said(kind, "medium", at, len(words))


ORDERS: Final[tuple[Form, ...]] = (
    _always,
    _never,
    _may_not,
    _wanted,
    _not_again,
    _in_replies,
    _no_circumstances,
    _stop,
    _everything,
)


# ---- orders that stand ----

_PLACES: Final = (
    "repo|repository|repositories|project|projects|code ?base|codebases|team|chat|chats"
    "|conversation|conversations|session|sessions|answer|answers|reply|replies|response|responses"
)
_IN_GENERAL: Final = (
    r"(?:as a (?:general )?rule(?: of thumb)?|by default|at all times|without exception|in general"
    r"|(?:in|across|for) (?:this|our|my|all(?: of)?(?: my| our)?|every|each|any)(?: of my| of our)?"
    rf" (?:{_PLACES})(?: of mine| of ours)?(?! only\b)|everywhere|whenever possible"
    r"|wherever possible)"
)
_FROM: Final = rf"(?:so )?(?:{FROM_NOW}|(?P<soft>{_IN_GENERAL}))(?P<mark>[,:]| -)? "
_POLITE: Final = (
    r"(?:(?:please|pls|just|also|only|i want you to|i'd like you to|you should|you must|you) )*"
)
_NO_MORE: Final = (
    rf"(?:{DONT} (?:ever )?|no more |no (?!problem|worries|idea|need|one|thanks)|avoid |stop "
    r"|never |not )"
)
_CASE: Final = r"(?:when|whenever|if|every time|each time|before|after)\b"
_WISH: Final = (
    r"(?:i (?:want|need|expect|prefer|would like)|i'd (?:like|prefer)"
    r"|we (?:use|will use|always|do)|let's)\b"
)
_SUBJECT: Final = r"(?:i|it|things|he|she|they|there|this|that|we|the|my|our|a|an)(?:'\w+)?\b"
_STATE: Final = (
    r"(?!(?:i|it|he|she|they|there|this|that|things|who|what)\b)[\w ,-]{3,50} (?:are|go|goes|must"
    r"|should|get|gets|need|needs|have to|has to|stays?|is to|only\Z)\b"
)


def _standing(words: str, at: int) -> Said | None:
    """Read "from now on …", "in future …", "as a rule …"."""
    found = pattern(_FROM).match(words, at)
    if found is None:
        return None
    start = _after(_POLITE, words, found.end())
    rest = words[start:]
    kind = _kind_of(rest, found)
    if kind is None or is_passing(rest, firm=True):
        return None
    confidence: Confidence = "medium" if found["soft"] and kind == "always" else "high"
    return Said(kind, confidence, start, len(words))


def _kind_of(rest: str, found: re.Match[str]) -> Kind | None:
    if pattern(_CASE).match(rest):
        return "when"
    if pattern(_NO_MORE).match(rest):
        return "never"
    surely = bool(found["mark"]) and not found["soft"] and not pattern(_SUBJECT).match(rest)
    ordered = is_order(rest, surely=surely)
    wished = pattern(_WISH).match(rest) or (not found["soft"] and pattern(_STATE).match(rest))
    return "always" if ordered or wished else None


def _after(what: str, words: str, at: int) -> int:
    found = pattern(what).match(words, at)
    return found.end() if found else at


# ---- … from now on ----

_ASKED: Final = rf"(?:{TO_YOU}|(?:please|pls|just|only|i want|let's) )*"
_ON: Final = (
    rf"[^\n]{{3,}}?[, ] ?(?:{FROM_NOW}|at all times|by default|without exception|as a rule)\b"
)
_WORK: Final = (
    r"(?:commits?|push|pushes|pull requests?|prs?|merges?|releases?|deploys?|deployments?|answers?"
    r"|repl(?:y|ies)|responses?|messages?|e?-?mails?|sessions?|changes?|edits?|steps?|meetings?"
    r"|meals?|tasks?|conversations?|summar(?:y|ies))\b"
)
_HELP: Final = r"(?:help|tell|show|teach|explain|give me (?:some|a few)? ?(?:tips|advice|ideas))\b"
_EACH: Final = (
    r"[^\n]{3,}? (?:before|after|in|on|for|with|to|at the end of|at the start of)"
    rf" (?:every|each|all|any)(?: single)?(?: of)?(?: my| your| our| new)? {_WORK}"
    r"|(?:write|sign|answer|start|end|begin|finish|prefix|title|name|keep|format)"
    r" (?:all|every|each)(?: single)?(?: of)?(?: my| your| our)? "
)
_STYLE: Final = (
    rf"(?P<not>{DONT} )?(?P<verb>use|write|keep|prefer|avoid|name|format|indent|follow|wrap"
    rf"|stick to|address|call) [^\n]{{2,80}}? {_IN_GENERAL}"
)


_REPLIES: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|summaries|explanations|commits|commit messages|functions"
    r"|messages|variable names|prs|pull requests)\b"
)
_KEEP: Final = (
    rf"(?:keep|make) (?:all |your |the |my |all your )?{_REPLIES} (?!as\b|open\b|for\b)\w"
)
_PREFER: Final = r"prefer (?!(?:the|this|that|it|these|those|a|an|my|not|to)\b)[^\W\d]"
_AVOID: Final = r"avoid (?!(?:the|this|that|it|these|those|him|her|them|a|an|my)\b)[^\W\d]"


def _standing_behind(words: str, at: int) -> Said | None:
    """Read "… from now on", "… before every commit", "… in this project", behind an order."""
    start = _after(_ASKED, words, at)
    rest = words[start:]
    if is_passing(rest) or pattern(_SUBJECT).match(rest):
        return None
    ordered = is_order(rest)
    if pattern(_ON).match(rest) and (start > at or ordered) and not pattern(_HELP).match(rest):
        return Said("always", "high", start, len(words))
    style = pattern(_STYLE).match(rest)
    if style is not None:
        kind: Kind = "never" if style["not"] or style["verb"] == "avoid" else "always"
        return Said(kind, "medium", start, len(words))
    if pattern(_AVOID).match(rest) and not words[:start].endswith("and "):
        return Said("never", "medium", start, len(words))
    if pattern(_PREFER).match(rest) and not words[:start].endswith("and "):
        return Said("always", "medium", start, len(words))
    each = ordered and (pattern(_EACH).match(rest) or pattern(_KEEP).match(rest))
    return Said("always", "medium", start, len(words)) if each else None


_BEHIND: Final = (
    r"(?!(?:it|he|she|they|you|that|this|there|same|as|please|i(?! want))\b)[^\n]{3,80}?,? ?,"
    r"(?: please,?)? (?:always|every (?:single )?time|without (?:fail|exception)|no exceptions)"
    r"(?:,? please)?\Z"
)
_TOLD: Final = r"[^\n]* (?:is|are|was|were|fails?|has|crashe?s?|happens?) "


def _behind(words: str, at: int) -> Said | None:
    """Read "…, always" and "…, every time"."""
    found = pattern(_BEHIND).match(words, at)
    told = pattern(_TOLD).match(words, at)
    if words[:at].endswith(", ") or found is None or told or is_passing(words[at:]):
        return None
    return Said("always", "high", at, len(words))


# ---- the rule here is … ----

_RULE: Final = (
    r"(?P<own>(?:(?:it(?:'s| is)|the|our|my|a|one|another|house|general|golden|team|basic|simple"
    r"|important|new|project)(?: |'s ))*)(?:rule|policy|convention|standard|guideline|agreement"
    r"|standing order)(?: of thumb)?(?: #?\d)?(?P<where> (?:here|around here|(?:for|in"
    r"|on) (?!the\b)(?:[\w-]+ ?){1,4}?))?(?P<is>:| is:?| is that| says:?) ?(?:that |to |we )?(?=\S)"
    r"|it(?:'s| is) our (?:policy|rule|convention) to (?=\S)"
)
_FORBIDS: Final = rf"(?P<verb>never|{DONT}|not to|not)? ?(?:no )?"
_TROUBLE: Final = (
    r"(?:\w+ed|broken|wrong|unclear|clear|too|very|simple|stupid|silly|fine|ok|okay|good|bad|hard"
    r"|easy|missing|confusing|so|still|also|just|only)\b"
)


def _rule(words: str, at: int) -> Said | None:
    """Read "the rule here is …", "rule: …", "our policy is to …"."""
    found = pattern(_RULE).match(words, at)
    if found is None:
        return None
    ours = (
        found["is"] not in (" is", " says")
        or found["where"]
        or pattern(r"our |my |house ").match(found["own"])
    )
    start = found.end()
    rest = words[start:]
    kind = _kind_of_rule(rest)
    if not ours or kind is None or is_passing(rest, firm=True):
        return None
    return Said(kind, "high", start, len(words))


def _kind_of_rule(rest: str) -> Kind | None:
    if pattern(_CASE).match(rest):
        return "when"
    if pattern(rf"(?:no|never|{DONT}|not)\b").match(rest):
        plain = rest.startswith("no ")
        return "never" if plain or is_order(rest[_after(_FORBIDS, rest, 0) :]) else None
    return None if pattern(_TROUBLE).match(rest) else "always"


# ---- we use … here ----

_HERE: Final = (
    r"\b(?:here|around here|at \w+|(?:in|on|for|throughout|across) (?:this|our|the) (?:\w+ )?"
    r"(?:repo|repository|project|code ?base|team|app|service|company))\b"
)
_WE: Final = (
    r"(?:(?:in|for) (?:this|our) (?:repo|repository|project|code ?base|team|app|service|monorepo)"
    r",? )?(?:here,? )?we (?P<no>do not |don't |dont |never |avoid )?"
    r"(?:only |all |just |generally |normally |strictly )?(?P<verb>\w+)\b"
)
# "we use it here", "we use Redis here and it crashed"
_TOLD_OF_IT: Final = (
    r" (?:an?|the|it|this|that|them|these|those)\b|[^\n]* (?:and|but) (?:it|they|that|this)\b"
)
_IT: Final = (
    r"(?:this|our|the) (?:repo|repository|project|code ?base|team|app|monorepo|service|company)"
    r" (?:only )?(?:uses (?!too|a lot|lots|more|less|so|\d)|follows |requires |targets |sticks to "
    r"|is (?:written|built) (?:in|with|on) |runs on )"
    r"|(?!the|this|these|those|all|most|some)[\w-]+s in (?:this|our)"
    r" (?:repo|repository|project|code ?base|team) (?:are|live|go|use|have|need|follow) "
)
_OURS: Final = word_set(
    "use format indent write follow name work keep stick deploy release test commit squash rebase "
    "avoid store target lint prefer put run build ship pin spell branch merge review tag log "
    "document"
)


def _we_use(words: str, at: int) -> Said | None:
    """Read "we use … here", "this project uses …"."""
    if is_passing(words[at:]):
        return None
    if pattern(_IT).match(words, at):
        return Said("always", "medium", at, len(words))
    found = pattern(_WE).match(words, at)
    if (
        found is None
        or found["verb"] not in (VERBS if found["no"] else _OURS)
        or pattern(_TOLD_OF_IT).match(words, found.end())
        or not pattern(_HERE).search(words, at)
    ):
        return None
    return Said("never" if found["no"] else "always", "medium", at, len(words))


# ---- no, … instead ----

_THING: Final = (
    r"(?!(?:a|an|the|that|this|these|those|it|another|your|other|one|my|what|whatever|whichever"
    r"|which|mine|yours) )[^\s,;]+(?: [^\s,;]+){0,4}?"
)
_INSTEAD: Final = (
    r"(?:you should |you must |please |we )?(?:use|go with|switch to|write|take|prefer|do) "
    rf"{_THING}(?:,? (?:instead|rather)(?: of| than)?\b|,? (?:and )?not )"
    rf"|(?!{_SUBJECT}|[\w ]*\b(?:\w+ed|uses|using|did|got|should|would)\b){_THING} instead of"
    rf" {_THING}\Z|instead of {_THING},? (?:please )?use {_THING}\Z"
    rf"|not {_THING}(?:,| -|:) (?:but |please )?use {_THING}\Z"
)
# Behind a "no" also "use the staging key instead", but not "use the other one instead".
_WRONG: Final = r"(?:\A|[\s,;:.!-])(?:no|nope|nah|wrong|incorrect|not quite)[,;:.!\s-]+\Z"
_THE_THING: Final = (
    r"(?:the|an?|your|our) (?!(?:other|one|first|second|third|last|same|old|new|previous|next"
    r"|former|latter|original|different|\w+ one|\w+est)\b)[^\s,;]+(?: [^\s,;]+){0,4}?"
)
_NO_USE: Final = (
    rf"(?:please )?use (?:{_THE_THING}|{_THING}) instead(?: of [^\s,;]+(?: [^\s,;]+){{0,4}}?)?\Z"
)
_STICK: Final = (
    r"(?:let's |please |we )?(?:stick (?:with|to)|standardi[sz]e on) (?!(?:it|that|this|the)\b)\S"
)
_SAID: Final = (
    r"(?:i|we)(?:'ve| have)? (?:already |just |explicitly )?(?P<how>told you|asked you|said)"
    r"(?: before| already| twice)?(?P<to>:| to| not to| never to| don't| do not)[ ,]+"
)


def _corrected(words: str, at: int) -> Said | None:
    """Read "use … instead", "use …, not …", "stick to …"."""
    if is_passing(words[at:]):
        return None
    if pattern(_STICK).match(words, at):
        return Said("always", "medium", at, len(words))
    denied = pattern(_WRONG).search(words[:at]) and pattern(_NO_USE).match(words, at)
    instead = denied or pattern(_INSTEAD).match(words, at)
    return Said("always", "low", at, len(words)) if instead else None


def _told(words: str, at: int) -> Said | None:
    """Read "I told you to …", "I told you not to …"."""
    found = pattern(_SAID).match(words, at)
    if found is None or is_passing(words[at:]) or not is_order(words[found.end() :]):
        return None
    if found["to"] in (":", " to"):
        told = found["how"] != "said" or found["to"] == ":"
        return Said("always", "medium", found.end(), len(words)) if told else None
    return Said("never", "medium", found.end(), len(words), "Never")


STANDING: Final[tuple[Form, ...]] = (
    _rule,
    _standing,
    _standing_behind,
    _we_use,
    _told,
    _corrected,
    _behind,
)


# ---- orders for a case ----

_EVERY_TIME: Final = r"(?:whenever|every ?time|each time|any ?time)(?: that)?"
# What breaks again and again; what is done is done once.
_BREAKS: Final = (
    r"the (?:tests?|build|linter|ci|pipeline|type ?checker|compiler|suite|deploy|deployment"
    r"|release)"
    r" (?:fails?|breaks?|complains?|crash|crashes|warns?|times out|(?:is|are) (?:red|broken|flaky))"
)
# Who or what a case is about that may come again.
_ANY_CASE: Final = (
    rf"(?:{_BREAKS}|it(?:'s| is) (?:after|before|past|late|early|dark|raining|a|an|the weekend"
    rf"|\w+day)|(?:you|i|we|one|someone|somebody|something|anything|anyone|nothing|people)(?:'re|'m"
    rf"| are| am|'ve)?|there(?:'s| is| are)|it comes to|in doubt|unsure|not sure|asked|an?|any|my"
    rf"|no|two"
    r"|several|\w{3,}ing|(?!this|was|has|is)\w{2,}s|the [\w-]+(?: \w+)? changes)\b"
)
# Verbs at which the order begins where no comma stands before it.
_BARE: Final = (
    r"(?:(?:you (?:should|must|have to) )?(?:use|run|add|ask|make|put|tell|text|show|send|give"
    r"|keep|write|call|check|do not|don't|never|always|include|skip|remind|stop|start|set|turn"
    r"|reply|answer|update|create|prefer|notify|warn|explain|pick|choose|let me know"
    r"|double-check|remove|say|speak|read|save|commit|format|confirm"
    r"|avoid|please|cite|collect|list|log|mark|open|record|repeat|store|summari[sz]e|translate))"
)
# "For every new file, …", "with German customers, …"
_KIND_OF_THING: Final = (
    r"(?:(?:every|each|any|all|new) \w|(?!the|this|these|those|that|my|your|two|three|some|other"
    r"|future|minutes|seconds|hours|days|weeks|starters|details|thanks|reasons|questions"
    r"|others|us|cases|terms|its|his)(?:[\w-]+ ){0,2}?(?:\w{2,}s|code|css|html|sql|yaml|json"
    r"|markdown|prose|homework|correspondence)(?: (?:to|from|with|for|about|in|on|of) [^,]{2,40}?)?"
    rf"(?=,| {_BARE}\b))"
)
_ONCE: Final = (
    r"(?:you(?:'re| are)? (?:all )?(?:done|finished|ready|back|through|set|there|arrive|finish|want"
    r"|like|can|could|please|have (?:time|a (?:chance|minute|moment)|any)|need (?:help|anything"
    r"|assistance|me|to talk|more)|get (?:a|the|to|there|home|back))|i(?:'m| am)? (?:back|done|home"
    r"|ready|away|out|gone|get|come|return|arrive|finish|was|had|can|could|were|said|told|should)"
    r"|(?:possible|needed|necessary|ready|done|so|not)\b|we(?:'re| are)? (?:done|ready|finished"
    r"|start|meet|were|had)|something like|an? (?:bit|lot|few|while|moment)\b)"
)
_IF: Final = (
    rf"(?:{_BREAKS}|you(?:'re| are)? (?:ever )?(?:unsure|not sure|uncertain|in doubt|stuck"
    rf"|aren't (?:sure|certain)|get stuck|don't (?:know|understand|have)|can't (?:find|tell|decide)"
    rf"|cannot|(?:find|spot|encounter|discover|come across|run into|see|notice) (?:an?|any"
    rf"|something|anything|\w+s)|touch|change|add|are asked|think|write|use|need (?!help|anything"
    rf"|more|me)|have to|must|feel)|in doubt|unsure|not sure|something|anything|anyone|someone"
    rf"|nobody|(?:told|asked|specified|stated) otherwise|an?|any|my|no|two|three|both|several"
    rf"|multiple|there(?:'s| is) an?|there(?:'s| is| are) no|i(?:'m| am)? (?:ever )?(?:ask|say|send"
    rf"|mention|type|write|paste|give|share|request|use"
    r"|don't (?:say|specify|answer|reply))|(?!this|was|has|is|its)\w{3,}s)\b"
)
_DOING: Final = (
    r"(?:an? (?!(?:while|moment|minute|second|bit|day|week|month|year|few|lot)\b)\w+|(?!something"
    r"|anything|nothing|everything|evening|morning|starting|spring|string)\w{3,}ing|every|each|any"
    r"|you (?!start|begin|do|go|continue|leave|get|answer this)\w+|we (?!start|begin|do|go|continue"
    r"|leave|talk|meet)\w+)\b"
)
_PLEASE: Final = (
    r"(?:(?:then|please|pls|just|always|also|i want you to|i'd like you to|you should|you must"
    r"|make sure (?:you|to)|be sure to|remember to|don't forget to|never|don't|do not|dont) )*"
)
_BEFORE_A_NOUN: Final = (
    r"(?:to|you|i|we|they|it|he|she|and|or|a|an|the|can|will|must|should"
    r"|my|your|not|of|in|for|with|don't|me|always|never|also|that)"
)


_CASE_WHEN: Final = (
    rf"(?:(?P<often>{_EVERY_TIME})|when|(?P<rare>if(?: ever)?|in case|unless)"
    r"|(?P<time>before|after|once|while|as soon as)|(?P<each>for|in|on|with)) "
)
_THIS: Final = r"\bthis\b(?! (?:repo|project|code|app))"
_ON_A_SCREEN: Final = rf"(?:an?|any|the|all|every|each|two)? ?(?:[\w-]+ )?{SCREEN}|the user\b"
# "keywords go uppercase", "no classes": what shall be, without a verb of order.
_SHALL: Final = r"(?:no|only) \w|[\w-]+s (?:go|are|must|should|stay) "
_COMMA: Final = r"(?:,(?: then)?| then| -+) "
_COURTESY: Final = r"(?:please |just )*(?:let (?:me|us) know|feel free|(?:just )?shout)\b"


def _when(words: str, at: int) -> Said | None:
    """Read "when …, do …" and "if …, do …"."""
    found = pattern(_CASE_WHEN).match(words, at)
    if found is None or pattern(_ON_A_SCREEN).match(words, found.end()):
        return None
    order = _order_in(words, found.end())
    once = is_passing(words[at:], firm=True) or pattern(_THIS).search(words, at, max(order, at))
    if order < 0 or once or not _may_return(words, found):
        return None
    if found["rare"] and pattern(_COURTESY).match(words, order):
        return None
    return Said("when", "medium" if found["rare"] else "high", at, len(words))


def _may_return(words: str, found: re.Match[str]) -> bool:
    """Whether a case may come again."""
    if pattern(_ONCE).match(words, found.end()):
        return False
    groups = {"often": r"", "rare": _IF, "time": _DOING, "each": _KIND_OF_THING}
    allowed = next((what for group, what in groups.items() if found[group]), _ANY_CASE)
    return pattern(allowed).match(words, found.end()) is not None


def _order_in(words: str, case: int) -> int:
    """Return where the order begins behind a case, or -1."""
    for comma in pattern(_COMMA).finditer(words, case):
        if _orders(words, comma.end()):
            return comma.end()
    for bare in pattern(rf"(?<= ){_BARE}\b (?=\S)").finditer(words, case):
        before = words[case : bare.start()].split()
        told = len(before) > 1 or words[case : bare.start() - 1].endswith("ing")
        if told and not pattern(_BEFORE_A_NOUN + r"\Z").match(before[-1]):
            return bare.start()
    return -1


def _polite(words: str, at: int) -> int:
    found = pattern(_PLEASE).match(words, at)
    return found.end() if found else at


def _orders(words: str, at: int) -> bool:
    start = _polite(words, at)
    return is_order(words[start:], surely=start > at) or bool(pattern(_SHALL).match(words, at))


# ---- do … whenever … ----

_WHENEVER: Final = rf"[^\n]{{3,}}? (?:{_EVERY_TIME}|if ever) (?!(?:this|it|he|she)\b)\w"
_ASK: Final = (
    r"(?:ask|check with|warn|notify|tell|alert|consult|confirm with) (?:me|us)?"
    rf"(?: first| for \w+)?,? ?(?:before {_DOING}|when (?!{_ONCE}){_ANY_CASE}|if (?!{_ONCE}){_IF})"
)


def _order_first(words: str, at: int) -> Said | None:
    """Read "do … whenever …", "ask me before …"."""
    start = _polite(words, at)
    rest = words[start:]
    forever = pattern(r"[^\n]*\b(?:always|never)\b").match(words[at:start])
    if forever or not is_order(rest) or is_passing(rest, firm=True):
        return None
    if pattern(_WHENEVER).match(rest):
        return Said("when", "high", at, len(words))
    asked = pattern(_ASK).match(rest) and not is_passing(rest)
    return Said("when", "medium", at, len(words)) if asked else None


WHENS: Final[tuple[Form, ...]] = (_when, _order_first)
"""In the order in which they are tried."""
