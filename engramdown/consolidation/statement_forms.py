"""The forms of words in which people tell facts about themselves, prefer, and ask to remember.

A form is a pattern at the beginning of a clause and what it says; what is kept of a clause is a
piece of it. What holds for a moment, is about something else or only between things at hand is
none; neither is a task ("remember to buy milk"). Patterns are bounded: linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from engramdown.engram import Confidence, Kind


class Said(NamedTuple):
    """What a clause says.

    Attributes:
        kind: The kind of memory.
        confidence: What the form deserves.
        start: Where that begins which is kept.
        end: Where it ends.
        label: What is put before it: ``Always``, ``Name:``, or nothing.
    """

    kind: Kind
    confidence: Confidence
    start: int
    end: int
    label: str = ""


Form = Callable[[str, int], Said | None]
"""Reads a sentence in small letters from an offset on, where a clause begins."""


def first_said(forms: tuple[Form, ...], words: str, at: int) -> Said | None:
    """Return what the first form that fits says."""
    return next((said for form in forms if (said := form(words, at))), None)


BLANK: Final = "\ue000"
"""Stands for each character of a quotation or of code within a sentence; it counts as a letter."""

DONT: Final = r"(?:do not|don't|dont|don t|do n't)"
"""How an order forbids."""

FROM_NOW: Final = (
    r"(?:from (?:now|here|today|this (?:point|moment|day))(?: on(?:wards?)?| forward)?(?: out)?"
    r"|in (?:all |any )?future (?:sessions?|answers?|chats?|conversations?|replies|messages"
    r"|projects"
    r"|prs|commits|e-?mails|reports|drafts)|(?:going|moving) forwards?|henceforth|hereafter"
    r"|in (?:the )?future|as of (?:now|today)|(?:starting|beginning) (?:now|today|immediately)"
    r"|for (?:all )?(?:the )?future(?: \w{2,12})?|next time|for next time|effective immediately)"
)
"""How an order says that it stands."""

SCREEN: Final = (
    r"(?:customers? (?:adds?|checks? out|clicks?|enters?|hovers?|logs?|opens?|press(?:es)?|scrolls?"
    r"|selects?|signs?|submits?|taps?|types?|uploads?|visits?)|user|visitor|player|button|row|column|page|screen|form|field|cart|popup"
    r"|pop-up|dialog|modal|menu|input|enem(?:y|ie)"
    r"|level|score|item|queue|timer|order|tab|card|checkbox|widget|node|request body"
    r"|session expires|token expires|robot|bot|game|app)s?\b"
)
"""What a program shows that somebody wants to have built: an order about it is a specification."""


# Up to where a clause goes of which only a piece is kept, or all but a question behind it.
_PIECE: Final = r"[^,;:(]*"
_CLAUSE: Final = (
    r".*?(?=,? (?:(?:and|but|so) )?(?:can|could|would|will|what|how|do|is|are|should) (?:you|i|we"
    r"|the|it)\b|, which\b|\Z)"
)


def reading(
    kind: Kind, confidence: Confidence, text: str, label: str = "", *, lasting: bool = False
) -> Form:
    """Return the form of which ``text`` is the pattern.

    What is kept begins with the group ``kept``, or where the clause does; behind a label, it ends
    with that group, too. Unless it is ``lasting``, nothing is read that is said for a while.
    """

    def read(words: str, at: int) -> Said | None:
        found = pattern(text).match(words, at)
        if found is None:
            return None
        kept = "kept" if "kept" in found.re.groupindex else 0
        clause = pattern(_PIECE if label else _CLAUSE).match(words, at)
        if not lasting and clause is not None and is_passing(clause[0]):
            return None
        end = found.end(kept) if label else len(words)
        return Said(kind, confidence, found.start(kept), end, label)

    return read


@cache
def pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern; "don't" and "I've" may lack their apostrophe."""
    return re.compile(text.replace("n't", "n'?t").replace("'ve", "'?ve"))


def slips(word: str) -> str:
    """Return a pattern for a word and its slips of the pen behind the first letter.

    A letter is left out, or two that differ have changed places.

    >>> slips("keep")
    '(?:keep|kep|kee|kepe)'
    """
    places = range(1, len(word))
    shorter = [word[:at] + word[at + 1 :] for at in places]
    swapped = [word[:at] + word[at : at + 2][::-1] + word[at + 2 :] for at in places]
    return f"(?:{'|'.join(dict.fromkeys([word, *shorter, *swapped]))})"


LASTING: Final = (
    "repo|repository|project|code ?base|code|app|machine|laptop|team|computer|house|family|office"
    "|company|service|chat|conversation"
)
"""What stays the same, so that an order about *this* one stands."""

_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
# What is said for a while, or for one thing.
_PASSING: Final = (
    r"\b(?:for (?:now|today|the moment|the time being|a (?:moment|minute|while|second|bit|sec|day"
    r"|week))|(?:in|for) (?:this|that) (?:chat|conversation|session|thread|message) only|(?:only"
    r"|just) (?:in|for) (?:this|that) \w+|right now|this (?:time|once|morning|afternoon|evening"
    r"|week|weekend|month|year|one)|just (?:this )?once|for (?:this|that) (?:one|time|task|file|pr"
    r"|commit|change|once|job|run|ticket|session|feature|case)\b|(?:in|on|at|for) (?:the )?(?:line"
    r"|step|question|cell|row|column|slide|page|section|paragraph|chapter|figure|table|exercise"
    r"|problem|part|item|task|ticket|issue)s? #?\d+|in the (?:dream|example|film|movie|poem|scene"
    r"|snippet|story)|today|tonight|at the moment|currently|temporarily|as a one-off"
    r"|one last time)\b"
)
_SOON: Final = (
    rf"\b(?:tomorrow|yesterday|yet|until|till|next (?:week|month)|later|in a (?:minute|bit|sec"
    rf"|second|moment|while)|(?:by|on|before|next) (?:{_DAY}(?!s)|noon|lunch|\d)|(?:go|get) (?:back"
    rf"|home)|at \d|(?<!from )now|this(?! (?:{LASTING})\b))\b"
)


def is_passing(words: str, *, firm: bool = False) -> bool:
    """Whether something is said for a while or for one thing.

    Args:
        words: What is said, in small letters.
        firm: Whether it is said as *always* or *never* say it, so that "until" and "on Sunday"
            belong to it.

    >>> is_passing("skip the linter this time"), is_passing("merge until it is green", firm=True)
    (True, False)
    """
    return bool(pattern(_PASSING).search(words) or (not firm and pattern(_SOON).search(words)))


# What turns the rest of a sentence into somebody else's words, or into a thought.
_REPORTED: Final = (
    r"\b(?:in the (?:movie|film|book|story|game|play|dream|example|scene|script|song)|from the"
    r"|per the|her|his|their|its|whose|readme|docs|manual|handbook|website|changelog|says?|saying"
    r"|told (?!you\b)|tells?|writes?|wrote|written|asks?|asked|according|reads|repl(?:y|ied)"
    r"|prints?|printed|thinks?|thought|wants?|wanted|claims?|claimed|insists?|insisted|imagine"
    r"|imagined|suppose|pretend|assume|assuming|what if|if|let's say|say|for (?:example|instance)"
    r"|e\.g\.|hypothetical(?:ly)?|would|could|might|whether|why|how|wonder|whispers?|shouts?|sings?"
    r"|called|titled|labelled|labeled|rename|change|add|play|queue|put|write|implement|create|make"
    r"|build|oh sure|yeah right|sure|brilliant|wow|clearly|lol|function|method|class|script|robot"
    r"|story|poem)\b|(?<!i )\bsaid\b|(?<!\bi )(?<!already )\btold\b"
)


# What somebody announces his own words with; behind any other colon stands an example or a text.
_ANNOUNCES: Final = (
    r"\b(?:rules?|things?|notes?|reminders?|requests?|preferences?|important|remember|also|please"
    r"|ps|guidelines?|conventions?|me|clear|once|though|reference|future|instructions?|said"
    r"|told you|wishe?s?|points?|feedback|corrections?|always|everywhere|mind|this|following|again"
    r"|sacred|one|two|three|[0-9]|first|second|lastly|finally)\W*:\s*\Z"
)


def is_reported(lead: str) -> bool:
    """Whether what stands before a clause makes it somebody else's words, a thought or a task.

    >>> is_reported("she said: "), is_reported("good, but "), is_reported("example: ")
    (True, False, True)
    """
    if lead.rstrip().endswith(":") and not pattern(_ANNOUNCES).search(lead):
        return True
    return bool(pattern(_REPORTED).search(lead))


# ---- facts ----

CAPITAL: Final = "Name: "
"""The label of a name that is one only if each word of it has a capital letter."""

_AM: Final = r"i(?:'m|m| am)"
_END: Final = (
    r"(?=\s*(?:[,;:!?(]|\.(?!\S)|\Z| -"
    r"| (?:and|but|so|because|btw|by the way|now|since|as|for|with)\b))"
)

# ---- my name is … ----

_NO_NAME: Final = (
    r"(?:a|an|all|already|also|always|away|back|bad|by|every|for|off|out|to|up|upon|broken|cut|different|displayed|empty|gone|hard|here"
    r"|hidden|in|incorrect|irrelevant|just|long|missing|"
    r"misspel(?:led|t)|never|not|now|nowhere|on|only|private|public|required|short|shown|slow"
    r"|spel(?:led|t)|still|taken|that|the|there|this|too|"
    r"too|unique|unknown|up|used|very|what|wrong|your|\ue000+)\b|\ue000"
)
WITH_DIGIT: Final = (
    r"(?!\d+(?:[ap]m|st|nd|rd|th|x|h|k|s|mins?|ish)?\b)(?=[^\s,;:.!?()]{0,30}[^\W\d_])"
    r"[^\s,;:.!?()]{2,30}"
)
"""A word of a name that may hold digits: no number, no time, no count."""
_NAME: Final = (
    rf"(?P<kept>(?:(?:dr|mr|mrs|ms|prof)\. )?(?!{_NO_NAME})(?:[^\s,;:.!?()\d]{{2,30}}|{WITH_DIGIT})"
    rf"(?:\.? (?:[^\s,;:.!?()\d]{{1,30}}|{WITH_DIGIT})){{0,3}}?){_END}"
)
_IS: Final = (
    r"(?:(?:my|the) (?:full |first |real |legal )?name(?:'s| is|:)|name's|i(?:'m| am) called) "
)
_CALLED: Final = (
    r"(?:i go by|(?:i )?(?:just )?(?:go by|call me)|you (?:can|may) call me|(?:can"
    r"|could) you (?:please )?call me|everyone calls me|people call me|(?:please )?(?:address"
    r"|refer to) me as) (?!(?:crazy|old|stupid|a|an|when|back|if|later|at|on|in|once|maybe|after"
    r"|before|tomorrow|today|asap|paranoid|picky|lazy|biased|mad|dumb|naive|weird|by|please|again"
    r"|instead|anytime|out)\b)"
)
_HERE: Final = r"this is (?P<kept>[^\W\d_]{2,20})(?=\Z|[,.!]| (?:from|with|at)\b)"
_AT_THE_DOOR: Final = (
    r"(?P<kept>(?!(?:same|over|not|right|me|up|out|down|in|new|look|stay|come|nothing|only"
    r"|still|just|all|done|stop|start|wait|click|begin|continue|sign|put|use|add|fix|see|check"
    r"|yes|no|hi|hello|help|what|who|where|how|why|bug|error|problem"
    r"|issue)\b)[^\W\d_]{2,20}) here(?=\Z|[,.!]| from\b)"
)
_CALL_SIGN: Final = r"[^\W\d_](?=\w{2,19}(?!\w))[^\W_]*\d[^\W_]*"
_I_AM: Final = (
    rf"{_AM} (?P<kept>(?:[^\W\d_]{{2,20}}|{_CALL_SIGN})(?: [^\W\d_]{{2,20}})?)"
    r"(?=[,.!]| from\b| and i(?:'?m)?\b|\Z)"
)

# ---- my time zone is …, I live in … ----

_ZONE: Final = (
    r"(?:(?:utc|gmt)(?: ?[+-] ?\d{1,2}(?::\d\d)?)?|ce?s?t|cet|cest|e[sd]t|p[sd]t|m[sd]t|c[sd]t|ist"
    r"|jst|bst|aest|aedt|wet|west|eet|eest|msk|sgt|hkt|kst|nzst|[a-z]{4,}/[a-z_]{3,}(?:/[a-z_]{3,})"
    r"?|[a-z]+(?: [a-z]+)? time)"
)
_IN_ZONE: Final = (
    rf"(?:my (?:local )?time ?zone(?: is|:)|{_AM} (?:in|on)|we're (?:in|on)) "
    rf"(?:the )?(?P<kept>{_ZONE})(?: ?zone| time ?zone)?{_END}"
)
_STOP: Final = r"(?!(?:and|but|so|because|with|as|for|since)\b)"
_LIVES: Final = (
    rf"(?:i (?:currently )?(?:live|reside) in|{_AM} (?:currently )?(?:based|located|living)"
    r" (?:in|out of)|we live in) (?!(?:the past|fear|hope|a|an|constant|my|the browser)\b)"
    rf"(?P<kept>[^\s,;:.!?()]{{2,30}}(?: {_STOP}[^\s,;:.!?()]{{2,30}}){{0,3}}){_END}"
)

# ---- my … is … ----

_MY: Final = (
    r"my (?P<own>(?:full|own|current|main|primary|preferred|favou?rite|private|work|native) )?"
)
_BARE_KEYS: Final = "(?:pronouns|time ?zone|birthday|mother tongue)"
_KEYS: Final = (
    r"(?:pronouns|birthday|surname|last name|family name|middle name|maiden name|(?:working"
    r"|office) hours|date of birth|e-?mail(?: address)?|phone(?: number)?|address|location|locale"
    r"|employer|company|job(?: title)?|role|title|profession|occupation|editor|ide|shell|terminal"
    r"|browser|os|operating system|keyboard(?: layout)?|language|mother tongue|timezone"
    r"|github(?: handle| username| user)?|username|handle|nickname|linkedin|diet|blood type"
    r"|shoe size|height|car|home ?town|city|country|nationality|religion)"
)
_NO_VALUE: Final = (
    r"(?:not|no|a|an|the same|broken|down|slow|wrong|missing|full|gone|never|always|acting|being"
    r"|getting|still|too|so|very|really|about|already|cut|been|being|like|on (?!the)|in (?!the)|at"
    r"|what|that|this|it|stuck|frozen|crashing|hidden|here|there|now|also|set|just|unreachable"
    r"|empty|out|off|up|under|asking|dead|dying|locked|\w+(?:ed|ing)\b)\b"
)
_VALUE: Final = rf"(?P<value>(?!{_NO_VALUE})[^\n,;!?{BLANK}]{{2,60}}?){_END}"
_MINE: Final = rf"{_MY}(?P<key>{_KEYS})(?: is| are|'s|:) {_VALUE}"
_LISTED: Final = rf"(?P<own>)(?P<key>{_BARE_KEYS}): {_VALUE}"


def _keyed(words: str, at: int) -> Said | None:
    """Read "my pronouns are …", "my editor is …", "Time zone: …"."""
    found = pattern(_MINE).match(words, at) or pattern(_LISTED).match(words, at)
    if found is None:
        return None
    key = {"email": "e-mail", "timezone": "time zone"}.get(found["key"], found["key"])
    own = found["own"] or ""
    own = "" if own in ("own ", "full ", "current ") else own
    label = f"{own}{key}:".capitalize()
    return Said("profile", "high", found.start("value"), found.end("value"), label)


# ---- I am … ----

_STATES: Final = (
    r"(?:(?:a )?(?:vegan|vegetarian|pescatarian)|(?:severely |slightly |very |highly )?(?:allergic "
    r"to|intolerant to) \S+|lactose[- ]intolerant|gluten[- ](?:free|intolerant)|colou?r[- ]?blind"
    r"|(?:partially )?deaf|(?:legally )?blind|hard of hearing|dyslexic|(?:left|right)[- ]handed"
    r"|diabetic|c(?:o)?eliac|autistic|neurodivergent|epileptic|pregnant|retired|self[- ]employed"
    r"|unemployed|married|divorced|single|muslim|jewish|christian|hindu|buddhist|kosher|halal"
    r"|(?:short|near|far)[- ]?sighted|bilingual|\d{2} years old|from (?!(?:the|a|an|my|your|this"
    r"|that)\b)[a-z]+|originally from [a-z]+|new to [a-z+#]+|on an? [\w-]+ diet|\d{2}(?=\Z|,)"
    r"|learning [a-z]+(?=\Z|,))"
)
KIN: Final = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|daughter|son"
    r"|kid|child|baby|mother|mom|mum|father|dad|sister|brother|dog|cat|pet|horse|parrot"
    r"|grandmother|grandfather|grandma|grandpa|niece|nephew)"
)
"""Who belongs to somebody; who only works with him has a life of his own."""

_CONDITION: Final = (
    r"(?:type [12](?: diabetes)?|asthma|adhd|autism|dyslexia|diabetes|c(?:o)?eliac(?: disease)?"
    r"|epilepsy|migraines|hay fever|an? (?:[\w-]+ )?(?:allergy|intolerance|disability))"
)
_NUMBER: Final = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
_FAMILY: Final = (
    rf"my (?:\w+ )?{KIN}(?:'s name is| is called| is named) (?!not\b)\w|my (?:\w+ )?(?:{KIN}|kids"
    rf"|children|sons|daughters|dogs|cats) (?:[a-z]+ )?(?:is|are|turned) (?:now )?{_NUMBER}"
    rf"|my {KIN} [a-z]+ is an? \w|my (?:work |home )?(?:laptop|computer|machine|phone|desktop"
    rf"|pc) runs (?:on )?(?!(?:slow|hot|out|fast|fine|well|into|too|very|really|it|this|the|my|a|at"
    rf"|for|like)\b)\w|(?:my|our) (?:company|startup|band|school|boat|farm|shop|restaurant) is (?:c"
    rf"alled|named) \w|(?:our|my) (?:wedding )?anniversary is \S"
)
_JOB: Final = (
    r"(?:\w*(?:developer|engineer|designer|teacher|manager|writer|researcher|programmer|lawyer"
    r"|architect|analyst|scientist|student|doctor|nurse|chef|judge|pilot|founder|freelancer"
    r"|consultant|accountant|photographer|professor|lecturer|therapist|dentist|pharmacist"
    r"|journalist|editor|translator|musician|artist|physicist|chemist|biologist|economist"
    r"|electrician|plumber|carpenter|mechanic|farmer|baker|librarian|paramedic|firefighter|surgeon"
    r"|vet|veterinarian|admin|administrator|sysadmin|devops|tester|maintainer|beginner|novice"
    r"|parent|mother|father|widow|widower|pensioner|retiree|native speaker|ologist|ician|grapher"
    r"|smith|keeper|maker|wright|director|officer|clerk|secretary|assistant|coach|trainer"
    r"|instructor|driver|producer|actor|actress|author|contractor|entrepreneur|owner|recruiter"
    r"|principal|postdoc|intern|apprentice|cto|ceo|cfo|quant|statistician|mathematician|technician"
    r"|operator|soldier|nun|priest|pastor|midwife|carer|caregiver|barista|waiter|waitress|cook"
    r"|gardener|person|user|speaker|vegan|vegetarian|dad|mum|mom|diabetic|insomniac|owl)"
    r"|(?!(?:later|number|bother|other|another|better|sucker|goner|loser|monster|disaster|computer"
    r"|error|server|bummer|little|mere|fool|matter|newcomer)\b)[a-z]{3,}(?:er|or|ist|ian)(?=[ ,.;!]"
    r"|\Z))"
)
_SYSTEM: Final = (
    r"(?:macos|mac|windows|linux|ubuntu|debian|fedora|arch|nixos|wsl|android|ios|freebsd"
    r"|an? (?:mac|macbook|windows|linux|chromebook))\b"
)
_AM_ONE: Final = (
    rf"{_AM} (?:{_STATES}\b|(?:on|using|running) {_SYSTEM}"
    rf"|an? (?!(?:bit|fan|big|huge|little)\b)(?:[\w+#.-]+ ){{0,4}}?{_JOB}\b"
    r"|(?:the|one of the) (?:[\w+#.-]+ ){0,2}?(?:lead|head|owner|founder|cofounder|director"
    r"|maintainers?|manager|admin|cto|ceo|cfo) (?:of|at|for|behind|here)\b(?! (?:this|that)\b))"
)

# ---- I work at …, I never eat … ----

_DAILY: Final = (
    r"write|work|code|use|program|develop|read|eat|drink|cook|travel|fly|speak|start|wake|go|buy"
    r"|shop|run"
)
_DOES: Final = (
    r"i (?:currently )?(?:(?:don't |do not )?work (?:at|for|as|in|from|on (?:\w+days|weekends)"
    r"|nights|part[- ]?time|full[- ]?time|remotely)\b(?! (?:it|this|that|the (?:moment|minute|same"
    r"|time|weekend|code|bug)|my|me|you|once|all|now|first)\b)|(?:don't |do not |only |mostly "
    r"|usually )*(?:speak|eat|drink|wear|smoke|type on|drive)\b(?! (?:it|this|that|the|to|up|down"
    r"|out|for|with)\b)|live (?:just |right )?(?:outside|near|close to|next to) \w|report to (?!the"
    r"|an?\b)\w+\Z|code in \w+|own an? (?!idea)\w|(?:run|manage|lead|have) an? (?:small |little "
    r"|tiny )?(?:bakery|shop|business|company|restaurant|studio|agency|clinic|farm|store|startup"
    r"|caf[eé]|salon|school|blog|newsletter|podcast|team of \w+)\b|play (?:the )?\w+\Z|teach \w"
    r"|study \w|was born (?:in|on) \w"
    r"|use (?!(?:it|this|that|them)\b)[\w.+# -]{2,30} (?:on my|as my|at work|at home|every day"
    rf"|daily|for everything)|use (?:a wheelchair|a screen ?reader|hearing aids?|a cane"
    rf"|a hearing aid)|(?:can't|cannot) (?:eat|drink|have|tolerate) (?!it|that|this|the)\w|(?:only"
    rf"|mostly|mainly|primarily) (?:{_DAILY}) (?!it|this|that|into|out)\w"
    r"|(?:go|run|swim|train|walk|meditate|practi[cs]e|wake up|get up|have|take|do)\b[\w ]{0,40}"
    r" (?:every|each) (?:day|morning|evening|night|week|weekend|\w+day)\Z)"
)
_HAS: Final = (
    rf"(?:i|we) have (?:{_CONDITION}|twins|triplets|\w+ (?:kids|children|cats|dogs|sons|daughters"
    rf"|brothers|sisters)|an? (?:[\w-]+ )?(?:dog|cat|son|daughter|baby|toddler)(?=\Z|,| (?:named"
    rf"|called|who|that|and|with|at home)\b))(?!\w)|i have (?:over |about |almost )?\w+ years(?:'"
    rf"| of)? (?:of )?experience\b|i(?:'ve| have) been (?:an? |vegan|vegetarian|married|programming"
    rf"|coding|working|cooking|teaching|practi[cs]ing|playing|running|writing|using|learning"
    rf"|studying|living)\b(?:(?! this\b)[^,])"
    r"{0,40}? for (?:over |about |almost )?\w+ years\b"
    rf"|{_AM} \d(?:\.\d+|\d*) ?(?:cm|m|ft|feet) tall\b|i weigh \d+"
)
_TOOL: Final = (
    r"(?!(?:it|this|that|the|a|an|my|your|one|them)\b)[\w.+#/-]+(?: [\w.+#-]*[0-9.+#][\w.+#/-]*)?"
)
_USES: Final = (
    rf"i (?:don't |do not )?use {_TOOL}(?: (?:and|or|on|with) {_TOOL})?(?=\Z|,)"
    rf"|i use {_SYSTEM}(?=\Z|,| (?:at|for|and|with|as)\b)"
)
_HABIT: Final = (
    r"i (?:never|always) (?:use|fly|take|write|work|test|squash|rebase|commit|review|code|cook"
    r"|travel|pay|sign|buy|book|sleep|run|speak|eat|drink|wear|smoke|drive)\b"
    r"(?! (?:it|this|that|into|out|the)\b)"
)

FACTS: Final[tuple[Form, ...]] = (
    reading("profile", "high", _IS + _NAME, "Name:", lasting=True),
    reading("profile", "high", _CALLED + _NAME, "Name:", lasting=True),
    reading("profile", "high", _IN_ZONE, "Time zone:"),
    _keyed,
    reading("profile", "high", _FAMILY, lasting=True),
    reading("profile", "high", _LIVES, "Location:"),
    reading("profile", "high", _AM_ONE),
    reading("profile", "high", _DOES),
    reading("profile", "high", _HAS),
    reading("profile", "medium", _HABIT),
    reading("profile", "medium", _USES),
    reading("profile", "high", _HERE, CAPITAL, lasting=True),
    reading("profile", "high", _AT_THE_DOOR, CAPITAL, lasting=True),
    reading("profile", "high", _I_AM, CAPITAL, lasting=True),
)
"""In the order in which they are tried."""


# ---- preferences ----

# What is before both, or is to be done.
_AT_HAND: Final = (
    r"(?:not\b(?! to (?!say\b|answer\b|tell\b|talk\b))|it\b|that\b(?! (?:you|people|we)\b)|this\b"
    r"|these\b|those\b|them\b|both\b|neither\b|either\b|none\b|all\b|your\b|you\b(?! (?:answered"
    r"|avoided|called|explained|gave|kept|listed|showed|told|used|wrote|to|not|did|do|ask|use|keep"
    r"|were|would|write|answer|call|always|never))|how\b|when\b|what\b|where\b|if it\b|option\b"
    r"|version\b|variant\b|plan [a-z]\b|number\b|his\b|her\b|their\b|(?:the )?(?:first|second|third"
    r"|fourth|last|latter|former|other|new|old|previous|next|current|original|one|way|idea|look"
    r"|layout|design|approach|version|result|output|food|place|color|colour|name|title|tone|ending"
    r"|blue|red|green)\b|\w+day\b|to (?:admit|be (?:a|the|that|picky|annoying)|bother|disturb"
    r"|interrupt|say)\b|\w+ing (?:to|with) you\b|the \w+ (?:one|version|option|approach|variant"
    r"|layout|design|idea)\b|a different|another\b|to (?:wait|stop|leave|see|talk|start|finish"
    r"|do (?:it|this|that)|know|go|hear|book|order|have|buy|get|ask|think|believe|discuss|call)\b"
    r"|wait\b|stop\b|do (?:it|this|that)\b|die\b|go\b|start\b|talk\b|just\b|be\b|work on\b"
    r"|have (?:the|it|this)\b|see\b|hear\b|finish\b|fix\b|leave\b|sleep\b|stay\b|skip\b|eat\b"
    r"|take the\b|keep (?:it|this|that)\b|so much|\ue000)"
)
_ADVERBS: Final = (
    r"(?: (?:really|generally|usually|strongly|much|always|also|personally|definitely|still|do"
    r"|tend to|absolutely|just|greatly|very much))*"
)
_PREFER: Final = (
    rf"i(?P<would>'d|d| would)?{_ADVERBS}(?: would)?{_ADVERBS} (?:prefer|rather)"
    rf" (?(would)(?!the\b))(?:(?:it )?(?:if|when) (?:you|people|answers) |(?!{_AT_HAND}))\S"
)
_LIKE: Final = (
    rf"i{_ADVERBS} (?:like|love|enjoy|hate|dislike|can't stand|cannot stand|can't bear|detest"
    r"|don't like|do not like|dont like|don't enjoy)"
    rf" (?:(?:it )?(?:if|when) you |(?!{_AT_HAND})(?!(?:the|an?|that)\b))\S"
)
_PREFERENCE: Final = (
    rf"my (?:(?:strong |personal |general )?preference (?:is|would be)|(?:favou?rite"
    rf"|preferred) (?!part|line|bit|quote|scene|thing|moment|one)[\w-]+(?: [\w-]+)? (?:is"
    rf"|are)) (?!{BLANK}|(?:not|that|this|it|when|how|where|what|gone|broken)\b)\S"
)
_WISH: Final = (
    r"(?:i'd|i would) (?:really |much )?(?:appreciate|like|love|prefer) it if you (?!could\b)\S"
    r"|it(?:'d| would) be (?:\w+ )?(?:great|nice|good|better|helpful|best|cool) if you (?!could\b)"
    r"\S|i(?:'d like| would like| want| like) (?:my|all(?: of)?(?: my)?|every) [\w ]{2,30}?s (?:in"
    r"|as|with|without|to be|sorted|formatted|written|kept)\b"
)
_FAN: Final = (
    r"i(?:'m| am) (?:not |no |a |an |such |really |big |huge |great |much of )*fan of"
    rf" (?!{_AT_HAND})\S"
)

PREFERENCES: Final[tuple[Form, ...]] = tuple(
    reading("profile", "medium", text) for text in (_PREFER, _WISH, _LIKE, _PREFERENCE, _FAN)
)
"""In the order in which they are tried."""


# ---- requests to remember ----

_REMEMBER: Final = (
    rf"(?:(?:(?:can|could|would|will) (?:you|u) |i (?:need|want|'d like|would like) you to "
    rf"|you (?:should|must|need to) |just so you |just |(?:here's |let me tell you )?something to )"
    rf"?(?:please |pls |always )?(?:(?:{slips('remember')}|rember|memori[sz]e)(?: this"
    rf"| the following)?(?: for (?:next time|later|the future))?(?: that\b|[:,]| -)?"
    rf"|keep in mind(?: that\b|[:,])?|keep this in mind[:,]|bear in mind(?: that\b|[:,])?|(?:make"
    rf"|take) (?:a )?note(?: that\b|[:,]| of this:)|(?:do not|don't|dont|never) forget(?: that\b"
    rf"|[:,])?|(?:add|save|commit|store|put|write|note) (?:this |it )?(?:down )?(?:to|in"
    rf"|into) (?:your |the )?(?:long-term )?(?:memory|notes)(?:[:,]| that\b)|(?:save"
    rf"|store) this[:,]|(?:a )?note (?:for later|for the future|to self|for next time)[:,]"
    rf"|for (?:future|later) reference[:,]?|you should know(?: that\b|[:,])|fyi,? for (?:the future"
    rf"|later|next time)[:,]?|for the record[:,]|remember this[:,]))(?P<next>(?: next time"
    rf"| for next time| later)?[:,]?(?: that)?) (?P<rest>)"
)
# After these a fact follows, whatever it looks like.
_CLEARLY: Final = r"[^\n]*\b(?:in mind|memory|notes|that|note|reference)\b"
# A remembered thing has a verb, else it is "remember the milk".
_VERB: Final = (
    r"\b(?:is|are|was|were|has|have|had|uses?|needs?|takes?|runs?|lives?|can|cannot|can't|must"
    r"|should|will|won't|does|doesn't|do|don't|expires?|works?|owns?|wants?|likes?|prefers?|gets?"
    r"|goes|starts?|ends?|opens?|closes?|costs?|requires?|means?|stands?|comes?|only|always|never"
    r"|isn't|aren't|(?:\w{3,})s)\b|'s |'re |'m "
)
_TO_DO: Final = r"(?:to|when|how|what|why|if|about|from|too|well)\b"
_NO_FACT: Final = (
    r"(?:me|when|how|what|who|where|why|which|the (?:time|milk|name|day|days)"
    r"|that|this|it|them|those|these|to|if|anything|everything|nothing|us|him|her)\b(?! is| are|'s)"
)
# What people cheer each other up with.
_PEP_TALK: Final = (
    r"(?:you(?:'re|'ve| are| got| can| don't have)|it's (?:never|about|ok|okay|important|always)"
    r"|every \w+ (?:step|victory|day|has)|i'm always|there's always|- )\b"
)
_SENTENCE: Final = r"\S+ \S+ \S+ \S"


def remembered(words: str, at: int) -> int:
    """Return where that begins which shall be remembered, or -1.

    >>> remembered("remember that ci is slow", 0), remembered("remember the milk", 0)
    (14, -1)
    """
    found = pattern(_REMEMBER).match(words, at)
    if found is None:
        return -1
    start = found.start("rest")
    rest = words[start:]
    if pattern(_TO_DO).match(rest) or pattern(_PEP_TALK).match(rest):
        return -1
    asked = found[0].rstrip()
    told = asked.endswith((" that", ":", ",")) and pattern(_SENTENCE).match(rest)
    if pattern(_NO_FACT).match(rest) and not told:
        return -1
    clear = pattern(_CLEARLY).match(asked) and " " in rest
    verb = pattern(_VERB).search(rest) and rest.count(" ") > 1
    return start if clear or verb else -1


_REMINDER: Final = (
    r"(?!(?:you|i|we|please|to|do|don't|can|could|will|would|this|that|it|if|when)\b)[^\n]{8,200}?,"
    r" (?:please |so )?(?:remember|keep in mind|don't forget|never forget)(?: that| this| it)?\Z"
)
REMINDERS: Final[tuple[Form, ...]] = (reading("lesson", "high", _REMINDER),)
"""What is told first: "the port is 5433, remember that"."""


# ---- German, French and Spanish ----


_NAME_FACT: Final = (
    rf"(?P<kept>(?:[^\s,;:.!?()\d]{{2,30}}|{WITH_DIGIT})(?: (?!und |et "
    rf"|y )(?:[^\s,;:.!?()\d]{{2,30}}|{WITH_DIGIT})){{0,2}})(?=[,;:.!?]|\Z| und | et | y )"
)
_ICH: Final = (
    r"(?:ich|du|er|sie|es|wir|ihr|man|das|der|die|den|dem|ein|eine|mein|meine|dein"
    r"|was|wie|warum|wann|wer|wo|hast|ist|sind|war|hat|habe|haben|wird|kann|noch|fast|so|auch|aber"
    r"|und|nur|schon|ja|nein|hier|da|mir|wenn)\b"
)
_JE: Final = (
    r"(?:je|j|tu|il|elle|on|nous|vous|ils|elles|ce|c|ça|cela|le|la|les|un|une|mon|ma"
    r"|pourquoi|est|es|presque)\b"
)
_FOREIGN: Final[Mapping[tuple[Kind, Confidence, str], Sequence[str]]] = {
    ("never", "high", ""): (
        (
            rf"(?:bitte )?(?P<kept>(?!{_ICH}|sage? )[^\W\d_]{{2,20}}(?<!t) (?:bitte )?(?:nie"
            rf"|niemals|nie wieder|nie mehr)\b)"
        ),
        r"(?P<kept>(?:nie|niemals) (?!im leben\b)[^\n]{3,}[^\W_]en\Z)",
        (
            r"(?:bitte )?(?:ab (?:jetzt|sofort|heute)|in zukunft|künftig"
            r"|zukünftig)(?: bitte)?,? (?P<kept>(?:keine?|nicht|nie|niemals)\b)"
        ),
        (
            rf"(?:bitte )?(?P<kept>(?:keine?n?|(?!{_ICH})[^\W\d_]{{2,20}}(?<!t)(?: [\w-]+){{0,6}}? "
            rf"(?:nicht|keine?n?)) [^\n]*\bmehr\Z)"
        ),
        r"(?P<kept>(?:ne |n')(?!suis|ai|est|sais|peux)[^\W\d_]{2,20} (?:plus )?jamais\b)",
        r"(?:à partir de maintenant|désormais|dorénavant|à l'avenir),? (?P<kept>(?:ne |n')\w)",
        (
            r"(?:por favor,? )?(?P<kept>(?:nunca|jamás) (?:más )?(?!jamás|mais|digas nunca|me|te|se"
            r"|le|nos|sabes|puedes|tienes)\w+(?:s|r)\b)"
        ),
        r"(?:a partir de ahora|de ahora en adelante|en el futuro),? (?P<kept>(?:no|nunca) \w)",
    ),
    ("always", "high", ""): (
        (
            rf"(?:bitte )?(?P<kept>(?!{_ICH})[^\W\d_]{{2,20}}(?<!t)(?<!st) (?:bitte )?(?:ab"
            rf" (?:jetzt|sofort) )?(?:immer|stets)\b)"
        ),
        r"(?P<kept>immer [^\n]{3,}[^\W_]en\Z)",
        (
            rf"(?:bitte )?(?:ab (?:jetzt|sofort|heute)|in zukunft|künftig"
            rf"|zukünftig)(?: bitte)?,? (?!bin|ist|wird|habe|kann|geht)(?P<kept>(?!{_ICH})\w)"
        ),
        (
            rf"(?:bitte )?(?P<kept>(?!{_ICH})[^\W\d_]{{2,20}}(?<!t) (?:bitte )?(?:ab"
            rf" (?:jetzt|sofort)|in zukunft|künftig)\b)"
        ),
        rf"(?:s'il te plaît,? )?(?P<kept>(?!{_JE})[^\W\d_]{{2,20}}(?:e|s|z) toujours\b(?! pas))",
        (
            rf"(?:à partir de maintenant|désormais|dorénavant"
            rf"|à l'avenir),? (?P<kept>(?!{_JE})(?!ne\b|n')\w)"
        ),
        (
            r"(?:por favor,? )?(?P<kept>siempre (?!me|te|se|lo|la|le|nos|que|hay|es|está|falla"
            r"|funciona|tarda|llega|pasa|dice|fue|ha|he|igual)\w+(?<!o)(?<!ó)\b)"
        ),
        (
            r"(?:por favor,? )?(?P<kept>(?!yo|tú|él|ella|esto|eso|el|la|casi|no|ya"
            r"|como)[^\W\d_]{2,20}(?:a|e) siempre\b)"
        ),
        (
            r"(?:a partir de ahora|de ahora en adelante|en el futuro),? (?!yo|el|la|los|las|voy"
            r"|será|estaré)(?P<kept>\w)"
        ),
    ),
    ("lesson", "high", ""): (
        (
            r"(?:bitte )?(?:merke? dir|denke? dran|denke? daran|vergiss nicht|behalte im kopf)(?:,"
            r"| bitte,)? (?:dass|:)? ?(?P<kept>\w+ \w+)"
        ),
        (
            r"(?:souviens-toi|rappelle-toi|n'oublie pas|retiens|note) (?:bien )?(?:que "
            r"|qu')(?P<kept>\w)"
        ),
        r"(?:por favor,? )?(?:recuerda|acuérdate de|ten en cuenta|no olvides) que (?P<kept>\w)",
    ),
    ("profile", "high", "Name:"): (
        (
            rf"(?:ich heiße|ich heisse|mein name ist)"
            rf" (?!(?:nicht|ja|auch|das|den|dich|es|sie)\b){_NAME_FACT}"
        ),
        rf"(?:bitte )?(?:nenne? mich|du kannst mich)(?: bitte)? {_NAME_FACT}",
        rf"(?:je m'appelle|mon nom est|mon prénom est|appelle-moi) {_NAME_FACT}",
        rf"(?:me llamo|mi nombre es|llámame) {_NAME_FACT}",
    ),
    ("profile", "high", "Location:"): (
        rf"(?:ich wohne in|ich lebe in) (?!der|einer|einem|dem){_NAME_FACT}",
        rf"(?:j'habite|je vis) (?:à|au|en) {_NAME_FACT}",
        rf"vivo en (?!un|una|el|la){_NAME_FACT}",
    ),
    ("profile", "medium", ""): (
        (
            r"(?P<kept>ich (?:bevorzuge|mag lieber|arbeite (?:bei|als)|bin (?:vegetarier|veganer"
            r"|vegan|allergisch|lehrer|entwickler))\w*\b)"
        ),
        (
            r"(?P<kept>je préfère (?!ça|cela|celui|celle|le (?:premier|second|deuxième)"
            r"|la (?:première|seconde|deuxième))\w)"
        ),
        (
            r"(?P<kept>prefiero (?!eso|esto|ese|esa|el (?:primer|segund)|la (?:primer|segund)|no\b"
            r"|esperar)\w)"
        ),
    ),
    ("profile", "high", ""): (
        (
            r"(?P<kept>je suis (?:végétarien|végan|allergique|développeu|professeu|infirmi"
            r"|daltonien|gauch)\w*)"
        ),
        (
            r"(?P<kept>soy (?:vegetarian|vegan|alérgic|desarrollador|profesor|enfermer|zurd"
            r"|daltónic|diabétic)\w*)"
        ),
    ),
}


FOREIGN: Final[tuple[Form, ...]] = tuple(
    reading(kind, confidence, form, label, lasting=True)
    for (kind, confidence, label), forms in _FOREIGN.items()
    for form in forms
)
