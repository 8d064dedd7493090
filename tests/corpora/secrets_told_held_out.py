"""Passwords and keys told in prose, and harmless talk of them, that no pattern was tuned on.

Promises: written before the patterns for them were, and not changed since they were first run; a
pattern that is changed because of a line in here makes the figure worthless.
"""

from __future__ import annotations

from tests.corpora.pieces import BASE64, UPPER36, Planted, chars

__all__ = ["harmless", "planted"]


def planted() -> list[Planted]:
    """Return texts in which somebody tells a secret."""
    return [Planted(kind, text.replace("{}", value), value) for kind, text, value in _rows()]


def _rows() -> list[tuple[str, str, str]]:
    key = "AKIA" + chars("told/1", UPPER36, 16)
    other = "ASIA" + chars("told/2", UPPER36, 16)
    return [
        ("AWS secret", f"Our id is {key}, and the secret half is {{}}", _aws("3")),
        ("AWS secret", f"{key} goes with {{}} on staging", _aws("4")),
        ("AWS secret", f"deploys use {other}\nits other half: {{}}", _aws("5")),
        ("AWS secret", "first {} then " + key, _aws("6")),
        ("password", "pw = 'q7&Rt$1zz'", "q7&Rt$1zz"),
        ("password", 'ADMIN_PASSWORD="$9lagoon!Tide"', "$9lagoon!Tide"),
        ("password", "password: tr$ck5ter%", "tr$ck5ter%"),
        ("password", "btw my password is maple77leaf", "maple77leaf"),
        ("password", "the staging password: gravel-88", "gravel-88"),
        ("password", "passwd for the printer is toner4ever", "toner4ever"),
        ("password", "Login is root/zebra!22 on the old box", "zebra!22"),
        ("password", "log in as admin with the password kiwi9kiwi", "kiwi9kiwi"),
        ("password", "ssh in with deploy / harbor_71", "harbor_71"),
        ("password", "credentials are guest:melon2024", "melon2024"),
        ("password", "use pass w1nterfell for the demo account", "w1nterfell"),
        ("password", "you get in with username ops and password t0aster", "t0aster"),
    ]


def _aws(label: str) -> str:
    return chars(f"told/{label}", BASE64, 40)


def harmless() -> list[str]:
    """Return talk of passwords, logins and keys in which nothing is told."""
    key = "AKIA" + chars("told/7", UPPER36, 16)
    return [
        "my password is kept in the keychain",
        "My password is longer than 20 characters.",
        "the db password: ask Ann",
        "the db password: rotated every 90 days",
        "passwd is a command of 1979",
        "passwd is in /usr/bin/passwd",
        "login with user/password is off",
        "log in with SSO/OAuth2 from now on",
        "Login with GitHub/GitLab works",
        "login with email/phone2 is planned for Q3/2027",
        "log in as admin with the password from 1Password7",
        "log in with the password of step 2",
        "use pass 2 for the linker",
        "use pass through mode in v2",
        "the credentials are role:arn",
        "credentials are read from ~/.aws/credentials",
        "the username and password are validated in auth2.py",
        "login failed 3/5 times",
        "sign in at https://example.org/login2/start",
        "the password is ${DB_PASSWORD}",
        "password = '$PASSWORD'",
        'password: "$(pass show db2)"',
        "password = '%(db_password)s'",
        'password: "{{ db_password_2 }}"',
        "a password with $ or ! needs quotes",
        "the commit " + chars("told/8", "0123456789abcdef", 40) + " fixed the login",
        "the login at " + chars("told/9", "0123456789abcdef", 40),
        "the secret is 40 characters of base64, its id 20",
        "login rate limit: 10/min, password reset: 3/h",
        f"see {'/srv/data/releases/2026/build-output/lib'} for {key[:8]}",
    ]
