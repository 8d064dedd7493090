"""Pairs that look alike and say two things: nothing makes one of them unseen, in either direction.

One pair a line. Case and final punctuation alone make no two memories (docs/file-format.md), so no
pair differs in these only.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.compaction import tidy
from engramdown.consolidation.information_loss import is_duplicate, is_near_exact
from engramdown.consolidation.plan import Operation
from engramdown.consolidation.plan_rules import judge
from tests.consolidation.memories import drop, known, learned, merge, supersede
from tests.tables import every

TODAY: Final = date(2026, 3, 15)
_MORE: Final = [known(f"more{at}", f"filler number {at}") for at in range(2)]
PAIRS: Final = """
Use option a | Use option b
Choose option A for logs | Choose option B for logs
Section c holds it | Section d holds it
Use plan a | Use plan B
the disk is drive c | the disk is drive d
Turn left at the gate | Turn right at the gate
Python 3.11 is needed | Python 3.12 is needed
Python 3.11 | Python 3.12
Use /etc/a | Use /etc/b
the file is /etc/a | the file is /etc/b
Use API v2 | Use API 2
Use API v2 | Use API v3
Wait 10 ms | Wait 10 s
Wait 10ms | Wait 10s
timeout is 10 MB | timeout is 10 GB
limit is 5 kg | limit is 5 lb
Meet on Monday | Meet on Tuesday
Meet on Mondays | Meet on Sundays
Meet on Mon | Meet on Tue
meet on mon | meet on tue
Take the first result | Take the last result
Take the first result | Take the second result
Take the 1st result | Take the 2nd result
Take the third | Take the fourth
Use ports 8000-8010 | Use ports 8000-8020
Use ports 8000-8010 | Use ports 8001-8010
Use ports 8000 to 8010 | Use ports 8000 to 8020
write to ada@example.org | write to bob@example.org
write to ada@example.org | write to ada@example.com
see https://a.example/x | see https://a.example/y
see https://a.example/x?p=1 | see https://a.example/x?p=2
see https://a.example/x#a | see https://a.example/x#b
see http://a.example | see https://a.example
call getUser first | call getUsers first
call getUser first | call setUser first
call get_user first | call get_users first
call UserStore | call UserStorage
call MAX_SIZE | call MIN_SIZE
must run lint | must not run lint
You must run lint | You must not run lint
enable telemetry | disable telemetry
telemetry is enabled | telemetry is disabled
Commit unless tests fail | Commit if tests fail
Commit when tests pass | Commit unless tests pass
Say "hello" | Say "goodbye"
The label is "red" | The label is "blue"
The label is 'a b' | The label is 'b a'
the error says "not found" | the error says "found"
Nutze kein pip | Nutze pip
Nutze nie pip | Nutze immer pip
Verwende niemals Tabs | Verwende Tabs
Verwende Tabs nicht | Verwende Tabs
Tests dürfen nicht übersprungen werden | Tests dürfen übersprungen werden
ohne Cache bauen | mit Cache bauen
Keine Tabs verwenden | Tabs verwenden
N'utilise pas pip | Utilise pip
Ne jamais pousser sur main | Pousser sur main
Utilise jamais pip | Utilise pip
sans cache | avec cache
Il ne faut plus utiliser npm | Il faut utiliser npm
Il n'y a aucun test | Il y a un test
No uses pip | Usa pip
Nunca uses pip | Usa pip
Nunca subas a main | Siempre subas a main
Usa pip sin cache | Usa pip con cache
Ninguna prueba falla | Una prueba falla
Tampoco usa npm | Usa npm
Non usare pip | Usa pip
不要使用 pip | 使用 pip
不使用 pip | 使用 pip
禁止使用 pip | 使用 pip
别用 pip | 用 pip
pip を使わないでください | pip を使ってください
pip を使うな | pip を使う
テストを実行しない | テストを実行する
pip은 쓰지 마세요 | pip은 쓰세요
pip 사용 금지 | pip 사용
不要 push main | 要 push main
北京 | 上海
用户在北京 | 用户在上海
会议在周一 | 会议在周二
会議は月曜日 | 会議は火曜日
会議は月曜日です | 会議は火曜日です
サーバーは東京にある | サーバーは大阪にある
用户喜欢猫 | 用户喜欢狗
价格是三元 | 价格是五元
甲打乙 | 乙打甲
Не используй pip | Используй pip
Никогда не пушь в main | Пушь в main
без кэша | с кэшем
Nu folosi pip | Folosi pip
Nie używaj pip | Używaj pip
Use pip, not uv | Use uv, not pip
prefer uv over pip | prefer pip over uv
Use tabs instead of spaces | Use spaces instead of tabs
copy from a to b | copy from b to a
copy from staging to prod | copy from prod to staging
A calls B | B calls A
the price is 5 EUR | the price is 5 USD
the price is €5 | the price is $5
the price is 5€ | the price is 5$
rate is +5 | rate is -5
rate is 5% | rate is 5
the temperature is -5 | the temperature is 5
the value is 1,000 | the value is 1.000
the value is 1e3 | the value is 1e4
the value is 0x10 | the value is 10
ratio 1:2 | ratio 2:1
at 9:00 | at 21:00
at 9 am | at 9 pm
at 9am | at 9pm
in CET | in CEST
in UTC+1 | in UTC+2
in UTC+1 | in UTC-1
size M | size L
size XL | size XXL
in C | in C++
in C | in C#
in F# | in C#
with -a | with -b
with --force | with --no-force
with --cache | with --no-cache
use -O2 | use -O3
set x=1 | set x=2
set DEBUG=true | set DEBUG=false
set `a` | set `b`
set `foo` | set `bar`
run `npm test` | run `npm start`
key is Ctrl+C | key is Ctrl+V
key is F1 | key is F2
all tests must pass | some tests must pass
every test | no test
at least 3 retries | at most 3 retries
more than 3 retries | less than 3 retries
more than 3 | fewer than 3
up to 3 retries | from 3 retries
before lunch | after lunch
only on Linux | also on Linux
only on Linux | on Linux
except on Linux | on Linux
with tests | without tests
tests may be skipped | tests must be skipped
tests should be skipped | tests can be skipped
allowed to push | forbidden to push
allow pushes | block pushes
accept cookies | reject cookies
add the header | remove the header
mount the disk | unmount the disk
lock the door | unlock the door
install the hook | uninstall the hook
subscribe to the list | unsubscribe from the list
happy path | unhappy path
safe to run | unsafe to run
synchronous calls | asynchronous calls
sync calls | async calls
secure | insecure
known host | unknown host
public bucket | private bucket
true | false
yes | no
on | off
turn it on | turn it off
log in first | log out first
increase the timeout | decrease the timeout
odd rows | even rows
odd weeks | even weeks
north door | south door
client side | server side
read replica | write replica
upload | download
encrypt it | decrypt it
push first | pull first
horizontal | vertical
rows | columns
input | output
import | export
buy | sell
morning | evening
his phone | her phone
Ann's phone | Bob's phone
he likes tea | she likes tea
daily backup | weekly backup
January report | February report
on 2026-01-02 | on 2026-02-01
on 1/2/2026 | on 2/1/2026
on 1 May | on 1 June
in March | in May
in 2025 | in 2026
Q1 goals | Q2 goals
twice a day | three times a day
once a day | twice a day
one retry | two retries
a dozen eggs | a score of eggs
half the team | the team
a third of it | a quarter of it
half a litre | a litre
thirteen users | fourteen users
thirty users | forty users
a thousand rows | a million rows
billion | million
chapter IV | chapter VI
chapter iv | chapter vi
use main branch | use master branch
Use tabs | Use spaces
deploy with helm | deploy with kustomize
Ada reviews | Ben reviews
ada reviews | ben reviews
Ada Lovelace | Ada Byron
the user is Ann | the user is Anna
the user is Jon | the user is John
user Mia | user Mio
the city is Köln | the city is Koln
the city is Hall | the city is Halle
the bucket is logs-eu | the bucket is logs-us
the bucket is logs_eu | the bucket is logs_us
the host is db1 | the host is db2
the host is db-1 | the host is db-2
the host is a.b.c | the host is a.b.d
10.0.0.1 | 10.0.0.2
the IP is 10.0.0.1 | the IP is 10.0.0.10
fe80::1 | fe80::2
sha 3f2a | sha 3f2b
sha abcdef | sha abcdee
id 0012 | id 12
zip 01234 | zip 1234
phone +49 30 1 | phone +49 31 1
phone 030 123 | phone 030 132
Bibtex key a2020 | Bibtex key b2020
the flag is --a | the flag is --b
*.py files | *.pyi files
.env is ignored | env is ignored
a.tar.gz | a.tar.xz
use == | use ===
use && | use ||
use > | use <
x > 5 | x < 5
x >= 5 | x <= 5
x != 5 | x == 5
x ≥ 5 | x ≤ 5
use ' quotes | use " quotes
use ; as separator | use , as separator
indent with 2 | indent with 4
emoji is 🎉 | emoji is 🔥
react with 👍 | react with 👎
done ✅ | done ❌
grade A+ | grade A-
grade A | grade A+
blood type O- | blood type O+
rated 5* | rated 4*
note C♯ | note C♭
angle α | angle β
π | τ
2² | 2³
H₂O | H₃O
½ cup | ¼ cup
5 ℃ | 5 ℉
№ 5 | № 6
Use the v1 endpoint for reads and v2 for writes | Use the v2 endpoint for reads and v1 for writes
Freeze from 2026-01-01 to 2026-02-01 | Freeze from 2026-02-01 to 2026-01-01
tests usually pass | tests always pass
the tests almost pass | the tests pass
nearly all tests pass | all tests pass
hardly any test passes | any test passes
rarely deploy on Friday | deploy on Friday
the deploy sometimes fails | the deploy fails
Retry more than 5 times | Retry 5 times
Retry up to 5 times | Retry 5 times
Retry at least 5 times | Retry 5 times
Retry about 5 times | Retry 5 times
Retry less than 5 times | Retry 5 times
Retry after 5 seconds | Retry within 5 seconds
Alpha takes 3 minutes and beta 5 minutes | Alpha takes 5 minutes and beta 3 minutes
Alpha takes 3 minutes, beta takes 5 | Alpha takes 5 minutes, beta takes 3
Kim has 2 cats and 3 dogs | Kim has 3 cats and 2 dogs
Timeout is 5, retries are 3 | Timeout is 3, retries are 5
dev uses port 80 and prod uses port 90 | dev uses port 90 and prod uses port 80
dev uses /a and prod uses /b | dev uses /b and prod uses /a
dev uses red and prod uses blue | dev uses blue and prod uses red
read from a.txt, write to b.txt | read from b.txt, write to a.txt
Ann likes tea and Bob likes coffee | Bob likes tea and Ann likes coffee
Monday is lint, Tuesday is tests | Tuesday is lint, Monday is tests
use uv for apps and pip for libs | use pip for apps and uv for libs
log in UTC, show in CET | show in UTC, log in CET
never push, always rebase | always push, never rebase
test before merge, deploy after merge | deploy before merge, test after merge
enable a, disable b | disable a, enable b
enable cache, disable logs | disable cache, enable logs
port 5432 for postgres, 6379 for redis | port 6379 for postgres, 5432 for redis
`x` is on and `y` is off | `y` is on and `x` is off
3.11 for CI and 3.12 for prod | 3.12 for CI and 3.11 for prod
10 ms read, 20 ms write | 20 ms read, 10 ms write
Kim reviews Lee's code | Lee reviews Kim's code
the client calls the server | the server calls the client
cats chase dogs | dogs chase cats
A depends on B | B depends on A
a.py imports b.py | b.py imports a.py
left is red, right is blue | left is blue, right is red
small files go to disk, large files go to s3 | large files go to disk, small files go to s3
on failure retry, on success stop | on success retry, on failure stop
prefer speed over size | prefer size over speed
Ann before Bob | Bob before Ann
warnings are errors | errors are warnings
read is fast and write is slow | write is fast and read is slow
in dev use http, in prod use https | in prod use http, in dev use https
if CI fails, page Ann; if it passes, page Bob | if CI fails, page Bob; if it passes, page Ann
Der Server ruft den Client | Den Server ruft der Client
Use tabs in Go and spaces in Python | Use spaces in Go and tabs in Python
Ann is in Rome, Bob is in Paris | Bob is in Rome, Ann is in Paris
"""  # noqa: RUF001 - scripts are what it is about
_CONFLICTS: Final = [line.split(" | ") for line in PAIRS.strip().split("\n")]
# What says nothing, behind and in front of a claim.
_BEHIND: Final = ("", ".", "!", " as discussed with the whole team last week")
_FRONT: Final = ("", "Note that ", "Please ", "In the billing project the rule for everybody is: ")


def operations(one: str, other: str) -> list[Operation]:
    """Return what would make one memory of two that say these."""
    texts = (one, f"{one}!", f"{one}, {other}", f"{one} / {other}")
    return [drop("a", "b"), supersede("a", "b"), *(merge(("a", "b"), text) for text in texts)]


def check(one: str, other: str) -> None:
    """Check that nothing is done without a person, with or without a model."""
    assert not is_near_exact(one, other)
    assert not is_duplicate(one, other)
    memories = [*learned(one, other), *_MORE]
    assert tidy(memories, TODAY) == []
    for operation in operations(one, other):
        found = judge(
            [
                operation,
            ],
            memories,
            TODAY,
        )
        assert found.apply == (), operation


@every("one, other", _CONFLICTS)
def test_two_values_of_one_thing_never_become_one_by_themselves(one: str, other: str) -> None:
    check(one, other)
    check(other, one)


@given(
    st.sampled_from(_CONFLICTS), st.sampled_from(_FRONT), st.sampled_from(_BEHIND), st.booleans()
)
def test_what_stands_around_two_values_hides_no_conflict(
    pair: list[str],
    front: str,
    behind: str,
    turned: bool,  # noqa: FBT001 - drawn
) -> None:
    one, other = (f"{front}{each}{behind}" for each in (pair[::-1] if turned else pair))
    check(one, other)
