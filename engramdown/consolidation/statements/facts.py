"""The forms of words in which somebody tells a fact about himself.

Promises: a fact is found only where a clause begins with it; what holds for a moment ("I'm in a
meeting") or is about something else ("my name is cut off") is none; linear time.
"""

from __future__ import annotations

from typing import Final

from engramdown.consolidation.statements.forms import BLANK, Form, Said, pattern, reading

__all__ = ["CAPITAL", "FACTS", "KIN", "WITH_DIGIT"]

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
    r"(?:(?:my|the) (?:full |first |real |legal )?name(?:'s| is|:)|name's"
    r"|i(?:'m| am) called) "
)
_CALLED: Final = (
    r"(?:i go by|(?:i )?(?:just )?(?:go by|call me)|you (?:can|may) call me"
    r"|(?:can|could) you (?:please )?call me|everyone calls me|people call me"
    r"|(?:please )?(?:address|refer to) me as) "
    r"(?!(?:crazy|old|stupid|a|an|when|back|if|later|at|on|in|once|maybe|after|before|tomorrow"
    r"|today"
    r"|asap|paranoid|picky|lazy|biased|mad|dumb|naive|weird|by|please|again|instead|anytime"
    r"|out)\b)"
)
_HERE: Final = r"this is (?P<kept>[^\W\d_]{2,20})(?=\Z|[,.!]| (?:from|with|at)\b)"
_AT_THE_DOOR: Final = (
    r"(?P<kept>(?!(?:same|over|not|right|me|up|out|down|in|new|look|stay|come|nothing|only"
    r"|still|just|all|done|stop|start|wait|click|begin|continue|sign|put|use|add|fix|see|check"
    r"|yes|no|hi|hello|help|what|who|where|how|why|bug|error|problem"
    r"|issue)\b)[^\W\d_]{2,20}) here(?=\Z|[,.!]| from\b)"
)
_PEOPLE: Final = (
    r"(?:\w+(?:ese|ish)|american|canadian|german|french|italian|mexican|brazilian"
    r"|indian|russian|australian|austrian|swiss|dutch|greek|african|asian|european|norwegian"
    r"|belgian|catholic|christian|muslim|ukrainian|colombian|korean|nigerian|kenyan)"
)
_CALL_SIGN: Final = r"[^\W\d_](?=\w{2,19}(?!\w))[^\W_]*\d[^\W_]*"
_I_AM: Final = (
    rf"{_AM} (?P<kept>(?:[^\W\d_]{{2,20}}|{_CALL_SIGN})(?: [^\W\d_]{{2,20}})?)"
    r"(?=[,.!]| from\b| and i(?:'?m)?\b|\Z)"
)

# ---- my time zone is …, I live in … ----

_ZONE: Final = (
    r"(?:(?:utc|gmt)(?: ?[+-] ?\d{1,2}(?::\d\d)?)?|ce?s?t|cet|cest"
    r"|e[sd]t|p[sd]t|m[sd]t|c[sd]t"
    r"|ist|jst|bst|aest|aedt|wet|west|eet|eest|msk|sgt|hkt|kst|nzst"
    r"|[a-z]{4,}/[a-z_]{3,}(?:/[a-z_]{3,})?|[a-z]+(?: [a-z]+)? time)"
)
_NO_ZONE: Final = (
    r"(?:no|the|the same|good|bad|real|full|part|first|this|that|my|our|perfect|plenty of) time\b"
    r"(?! zone)"
)
_IN_ZONE: Final = (
    rf"(?:my (?:local )?time ?zone(?: is|:)|{_AM} (?:in|on)|we're (?:in|on)) (?!{_NO_ZONE})"
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
    r"(?:pronouns|birthday|surname|last name|family name|middle name|maiden name"
    r"|(?:working|office) hours|date of birth|e-?mail(?: address)?|phone(?: number)?|address"
    r"|location|locale|employer|company|job(?: title)?|role|title|profession|occupation"
    r"|editor|ide|shell|terminal|browser|os|operating system|keyboard(?: layout)?|language"
    r"|mother tongue|timezone|github(?: handle| username| user)?|username|handle|nickname"
    r"|linkedin|diet|blood type|shoe size|height|car|home ?town|city|country|nationality"
    r"|religion)"
)
_NO_VALUE: Final = (
    r"(?:not|no|a|an|the same|broken|down|slow|wrong|missing|full|gone|never"
    r"|always|acting|being|getting|still|too|so|very|really|about|already|cut|been|being|like"
    r"|on (?!the)|in (?!the)|at|what|that|this|it|stuck|frozen|crashing|hidden|here|there|now"
    r"|also"
    r"|set|just|unreachable|empty|out|off|up|under|asking|dead|dying|locked|\w+(?:ed|ing)\b)\b"
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
    r"(?:(?:a )?(?:vegan|vegetarian|pescatarian)|(?:severely |slightly |very "
    r"|highly )?(?:allergic to|intolerant to) \S+|lactose[- ]intolerant|gluten[- ](?:free"
    r"|intolerant)|colou?r[- ]?blind|(?:partially )?deaf|(?:legally )?blind|hard of hearing"
    r"|dyslexic|(?:left|right)[- ]handed|diabetic|c(?:o)?eliac|autistic|neurodivergent"
    r"|epileptic|pregnant|retired|self[- ]employed|unemployed|married|divorced|single|muslim"
    r"|jewish|christian|hindu|buddhist|kosher|halal"
    r"|(?:short|near|far)[- ]?sighted|bilingual|\d{2} years old|from (?!(?:the|a|an|my|your"
    r"|this|that)\b)[a-z]+"
    r"|originally from [a-z]+|new to [a-z+#]+|on an? [\w-]+ diet|\d{2}(?=\Z|,)"
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
    rf"my (?:\w+ )?{KIN}(?:'s name is| is called| is named) (?!not\b)\w"
    rf"|my (?:\w+ )?(?:{KIN}|kids|children|sons|daughters|dogs|cats) (?:[a-z]+ )?(?:is|are"
    rf"|turned) (?:now )?{_NUMBER}"
    rf"|my {KIN} [a-z]+ is an? \w"
    r"|my (?:work |home )?(?:laptop|computer|machine|phone|desktop|pc) runs (?:on )?"
    r"(?!(?:slow|hot|out|fast|fine|well|into|too|very|really|it|this|the|my|a|at|for|like)\b)\w"
    r"|(?:my|our) (?:company|startup|band|school|boat|farm|shop|restaurant) is (?:called"
    r"|named) \w"
    r"|(?:our|my) (?:wedding )?anniversary is \S"
)
_JOB: Final = (
    r"(?:\w*(?:developer|engineer|designer|teacher|manager|writer|researcher|programmer|lawyer"
    r"|architect|analyst|scientist|student|doctor|nurse|chef|judge|pilot|founder|freelancer"
    r"|consultant|accountant|photographer|professor|lecturer|therapist|dentist|pharmacist"
    r"|journalist|editor|translator"
    r"|musician|artist|physicist|chemist|biologist|economist|electrician|plumber|carpenter"
    r"|mechanic|farmer|baker|librarian|paramedic|firefighter|surgeon|vet|veterinarian|admin"
    r"|administrator|sysadmin|devops|tester|maintainer|beginner|novice|parent|mother|father"
    r"|widow|widower|pensioner|retiree|native speaker"
    r"|ologist|ician|grapher|smith|keeper|maker|wright|director|officer|clerk|secretary"
    r"|assistant|coach|trainer|instructor|driver|producer|actor|actress|author|contractor"
    r"|entrepreneur|owner|recruiter|principal|postdoc|intern|apprentice|cto|ceo|cfo|quant"
    r"|statistician|mathematician|technician|operator|soldier|nun|priest|pastor|midwife|carer"
    r"|caregiver|barista|waiter|waitress|cook|gardener|person|user|speaker|vegan|vegetarian"
    r"|dad|mum|mom|diabetic|insomniac|owl)|(?!(?:later|number|bother|other|another|better|sucker|goner"
    r"|loser|monster|disaster|computer|error|server|bummer|little|mere|fool|matter"
    r"|newcomer)\b)[a-z]{3,}(?:er|or|ist|ian)(?=[ ,.;!]|\Z))"
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
    r"|nights|part[- ]?time|full[- ]?time|remotely)\b"
    r"(?! (?:it|this|that|the (?:moment|minute|same|time|weekend|code|bug)|my|me|you|once|all|now"
    r"|first)\b)"
    r"|(?:don't |do not |only |mostly |usually )*(?:speak|eat|drink|wear|smoke|type on|drive)\b"
    r"(?! (?:it|this|that|the|to|up|down|out|for|with)\b)"
    r"|live (?:just |right )?(?:outside|near|close to|next to) \w|report to (?!the|an?\b)\w+\Z"
    r"|code in \w+|own an? (?!idea)\w|(?:run"
    r"|manage|lead|have) an? (?:small |little |tiny )?(?:bakery|shop"
    r"|business"
    r"|company|restaurant|studio|agency|clinic|farm|store|startup|caf[eé]|salon|school|blog"
    r"|newsletter"
    r"|podcast|team of \w+)\b"
    r"|play (?:the )?\w+\Z|teach \w|study \w|was born (?:in|on) \w"
    r"|use (?!(?:it|this|that|them)\b)[\w.+# -]{2,30} (?:on my|as my|at work|at home|every day"
    r"|daily|for everything)"
    r"|use (?:a wheelchair|a screen ?reader|hearing aids?|a cane|a hearing aid)"
    r"|(?:can't|cannot) (?:eat|drink|have|tolerate) (?!it|that|this|the)\w"
    rf"|(?:only|mostly|mainly|primarily) (?:{_DAILY}) (?!it|this|that|into|out)\w"
    r"|(?:go|run|swim|train|walk|meditate|practi[cs]e|wake up|get up|have|take|do)\b[\w ]{0,40}"
    r" (?:every|each) (?:day|morning|evening|night|week|weekend|\w+day)\Z)"
)
_HAS: Final = (
    rf"(?:i|we) have (?:{_CONDITION}|twins|triplets"
    r"|\w+ (?:kids|children|cats|dogs|sons|daughters|brothers|sisters)"
    r"|an? (?:[\w-]+ )?(?:dog|cat|son|daughter|baby|toddler)"
    r"(?=\Z|,| (?:named|called|who|that|and|with|at home)\b))(?!\w)"
    r"|i have (?:over |about |almost )?\w+ years(?:'| of)? (?:of )?experience\b"
    r"|i(?:'ve| have) been (?:an? |vegan|vegetarian|married|programming|coding|working|cooking"
    r"|teaching|practi[cs]ing|playing|running|writing|using|learning|studying"
    r"|living)\b(?:(?! this\b)[^,])"
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
_USUALLY: Final = (
    rf"i (?:usually|normally|typically|generally) (?:{_DAILY}|get up|work out)\b"
    r" (?!it|this|that|into|out)\w"
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
    reading("profile", "high", _USUALLY, lasting=True),
    reading("profile", "high", _HAS),
    reading("profile", "medium", _HABIT),
    reading("profile", "medium", _USES),
    reading("profile", "high", rf"{_AM} {_PEOPLE}{_END}"),
    reading("profile", "high", _HERE, CAPITAL, lasting=True),
    reading("profile", "high", _AT_THE_DOOR, CAPITAL, lasting=True),
    reading("profile", "high", _I_AM, CAPITAL, lasting=True),
)
"""In the order in which they are tried."""
