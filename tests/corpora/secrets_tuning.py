"""Secrets and harmless look-alikes that the patterns were tuned on.

Promises: all of the secrets are found, and nothing else is; the held-out corpus says what that
is worth.
"""

from __future__ import annotations

from tests.corpora.pieces import (
    ALNUM,
    BASE64,
    CROCKFORD,
    DIGITS,
    HEX,
    LOWER36,
    UPPER36,
    URLSAFE,
    Planted,
    chars,
    jwt,
    key_lines,
    png,
    uuid,
)

__all__ = ["harmless", "planted"]


def planted() -> list[Planted]:
    """Return texts that hold a secret."""
    return [
        Planted(kind, template.replace("{}", value), value)
        for kind, template, value in [
            *_tokens(),
            *_keys(),
            *_urls(),
            *_named(),
            *_said(),
            *_alone(),
        ]
    ]


def _c(label: str, alphabet: str, length: int) -> str:
    return chars("tuning/" + label, alphabet, length)


def _tokens() -> list[tuple[str, str, str]]:
    prefixes = {
        "GitHub token": ("ghp_", "ghu_", "ghs_"),
        "npm token": ("npm_",),
        "Hugging Face token": ("hf_",),
        "Groq API key": ("gsk_",),
        "DigitalOcean token": ("dop_v1_",),
        "Shopify token": ("shpss_",),
        "Docker token": ("dckr_pat_",),
        "Vault token": ("hvs.",),
        "Linear token": ("lin_api_",),
        "webhook secret": ("whsec_",),
        "Notion token": ("ntn_",),
    }
    plain = [
        (kind, "The job printed {} and went on", prefix + _c(prefix, ALNUM, 36))
        for kind, starts in prefixes.items()
        for prefix in starts
    ]
    return [
        *plain,
        ("OpenAI API key", "Use {} for the demo", "sk-" + _c("t1", ALNUM, 48)),
        ("OpenAI API key", "key={}", "sk-proj-" + _c("t2", URLSAFE, 100)),
        ("Anthropic API key", "ANTHROPIC={}", "sk-ant-api03-" + _c("t3", URLSAFE, 95)),
        ("OpenRouter API key", "{}", "sk-or-v1-" + _c("t4", HEX, 64)),
        (
            "GitHub token",
            "pat: {}",
            "github_pat_" + _c("t5", ALNUM, 22) + "_" + _c("t6", ALNUM, 59),
        ),
        ("GitHub token", "too plain to be true: {}", "ghp_" + "a" * 36),
        ("GitLab token", "glab auth with {}.", "glpat-" + _c("t7", URLSAFE, 20)),
        ("PyPI token", "({})", "pypi-AgEIcHlwaS5vcmc" + _c("t8", URLSAFE, 120)),
        ("Slack token", "SLACK={}", f"xoxb-{_c('t9', DIGITS, 12)}-{_c('t10', ALNUM, 24)}"),
        ("Slack token", "app level {}", f"xapp-1-A{_c('t11', UPPER36, 10)}-{_c('t12', HEX, 64)}"),
        (
            "Slack webhook",
            "notify https://hooks." + "slack.com/services/{}",
            f"T{_c('t13', UPPER36, 8)}/B{_c('t14', UPPER36, 8)}/{_c('t15', ALNUM, 24)}",
        ),
        (
            "Discord webhook",
            "https://discordapp.com/api/webhooks/112233445566778899/{} posts there",
            _c("t16", URLSAFE, 68),
        ),
        (
            "Discord bot token",
            "client.run('{}')",
            f"M{_c('t17', ALNUM, 23)}.{_c('t18', URLSAFE, 6)}.{_c('t19', URLSAFE, 38)}",
        ),
        ("SendGrid key", "mail: {}", f"SG.{_c('t20', URLSAFE, 22)}.{_c('t21', URLSAFE, 43)}"),
        ("Twilio key", "key sid {} is live", "SK" + _c("t22", HEX, 32)),
        ("Telegram bot token", "BOT={}", f"{_c('t23', '123456789', 10)}:{_c('t24', URLSAFE, 35)}"),
        ("Mailgun key", "mailgun {}", "key-" + _c("t25", HEX, 32)),
        ("Databricks token", "dbx {}", "dapi" + _c("t26", HEX, 32)),
        ("Stripe key", "charge with {}", "sk_live_" + _c("t27", ALNUM, 24)),
        ("AWS access key", "id {}", "AKIA" + _c("t28", UPPER36, 16)),
        ("AWS access key", "sts gave {}!", "ASIA" + _c("t29", UPPER36, 16)),
        ("AWS secret key", "AKIA" + _c("t30", UPPER36, 16) + " / {}", _c("t31", BASE64, 40)),
        ("Google API key", "maps key {}", "AIza" + _c("t32", URLSAFE, 35)),
        ("Google token", "oauth2l fetch: {}", "ya29." + _c("t33", URLSAFE, 120)),
        ("Google token", "refresh {}", "1//0" + _c("t34", URLSAFE, 60)),
        ("Google client secret", "oauth {}", "GOCSPX-" + _c("t35", URLSAFE, 28)),
        ("Terraform token", "tfc {}", _c("t36", ALNUM, 14) + ".atlasv1." + _c("t37", ALNUM, 67)),
        ("JSON web token", "it answered {}", jwt("tuning/t38")),
        ("JSON web token", '{"jwt": "{}"}', jwt("tuning/t39", "RS256")),
    ]


def _keys() -> list[tuple[str, str, str]]:
    pem = "-----{} {}PRIVATE KEY{}-----"
    body = key_lines("tuning/pem", 4)
    begin, end = pem.format("BEGIN", "", ""), pem.format("END", "", "")
    dsa, pgp = pem.format("BEGIN", "DSA ", ""), pem.format("BEGIN", "PGP ", " BLOCK")
    locked = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC," + _c("iv", HEX, 32) + "\n\n"
    return [
        ("private key", f"{begin}\n{{}}\n{end}", body),
        ("private key", f"    {begin}\n{{}}\n    {end}", body.replace("\n", "\n    ")),
        ("private key", f'{{"key": "{begin}\\n{{}}\\n{end}"}}', body.replace("\n", "\\n")),
        ("private key", f"{dsa}\n{locked}{{}}\n{end}", body),
        ("private key", f"{dsa}\n{locked}{{}}", body),
        ("private key", f"{begin}{{}}{end}", body.replace("\n", "")),
        ("private key", f"{pgp}\nVersion: GnuPG v2\n\n{{}}\n", body),
        ("private key", f"cut off: {begin}\n{{}}", body[:150]),
        ("private key", f"{begin}\n{{}}\n{end}", "MIIEowIBAAKCAQEA"),
    ]


def _urls() -> list[tuple[str, str, str]]:
    return [
        ("password in a URL", "postgres://user:{}@host/db", "letmein"),
        ("password in a URL", "mysql://root:{}@127.0.0.1:3306/app", _c("u1", ALNUM, 10)),
        ("password in a URL", "see mongodb://ann:{}@db.example.org,db2.example.org/x", "m0ng0!"),
        ("password in a URL", "redis://:{}@redis:6379", _c("u2", LOWER36, 12)),
        (
            "password in a URL",
            "pip install --index-url https://ci:{}@pypi.example.org/simple",
            "w1nd",
        ),
        ("password in a URL", "sqlserver://sa:{}@db;database=x", "Str@ng3"),
        ("password in a URL", 'dsn := "root:{}@tcp(10.0.0.5:3306)/shop"', "r00tbeer"),
        ("password", "curl --user 'ops:{}' https://example.org", "Fern-" + _c("u3", DIGITS, 3)),
        ("password", "sshpass -p {} ssh ops@example.org", "L4vender"),
        ("password", "machine example.org\n  login ops\n  password {}\n", "n3tr1x"),
        ("authorization header", "Authorization: Bearer {}", _c("u4", URLSAFE, 32)),
        ("authorization header", "'authorization': 'Basic {}'", "b3BzOm" + _c("u5", ALNUM, 12)),
        ("authorization header", '"Authorization", "Token {}"', _c("u6", HEX, 40)),
        ("bearer token", "send bearer {} along", _c("u7", ALNUM, 30)),
    ]


def _named() -> list[tuple[str, str, str]]:
    return [
        ("password", "password = {}", "hunter2"),
        ("password", "password: {}", "Blue7Moon"),
        ("password", "password={}", "123456"),
        ("password", 'password = "{}"', "swordfish"),
        ("password", "PASSWORD='{}';", "aardvark"),
        ("password", "DB_PASSWORD={}\n", "aardvark"),
        ("password", "dbPassword: '{}',", "t!ger"),
        ("password", 'password: str = "{}"', "kestrel9"),
        ("password", '"smtp_pass": "{}"', "p0st4l"),
        ("password", 'conn(user="u", pwd="{}")', "pelican1x"),
        ("password", 'os.setenv("PGPASSWORD", "{}")', "walnut77"),
        ("password", "CREATE USER a IDENTIFIED BY '{}'", "m4riner"),
        ("password", "Data Source=db;Password={};Pooling=true", "n0rdic#"),
        ("password", "mysqldump --password {} shop", "dump3ster"),
        ("password", "<Password>{}</Password>", "xmlish8"),
        ("password", 'passphrase = "{}"', "correct horse battery staple"),
        ("password", '{\\"password\\": \\"{}\\"}', "n3sted!"),
        ("password", "docker login -u ann -p {}", "wh4lesong"),
        ("password", "mysqldump -u root -p{} shop", "f1ddler"),
        ("password", "pass: {}", "br1cks"),
        (
            "signature",
            "https://x.blob.example.net/c?sv=2024-01-01&sig={}",
            _c("n20", ALNUM, 43) + "%3D",
        ),
        ("secret", "otpauth://totp/x?secret={}&issuer=x", "JBSW" + "Y3DPEHPK3PXP"),
        ("password", "user=ann, password={}, host=db", "c0mma1"),
        ("secret", "secret: {}", _c("n1", ALNUM, 24)),
        ("secret", "client_secret={}&grant_type=code", _c("n2", ALNUM, 24)),
        ("key", "SECRET_KEY = '{}'", _c("n3", LOWER36 + "!@#%^&*(-_=+)", 50)),
        ("secret", "webhookSecret: '{}'", "shh-" + _c("n4", LOWER36, 12)),
        ("key", "AWS_SECRET_ACCESS_KEY={}", _c("n5", BASE64, 40)),
        ("key", "aws_secret_access_key = {}", _c("n6", BASE64, 40)),
        ("token", "token: {}", _c("n7", ALNUM, 22)),
        ("token", "ACCESS_TOKEN={}", _c("n8", HEX, 32)),
        ("token", "x-auth-token: {}", uuid("tuning/n9")),
        ("token", "deploy --token {}", _c("n10", LOWER36, 24)),
        ("key", "apiKey: '{}'", _c("n11", HEX, 24)),
        ("key", "api_key={}", _c("n12", ALNUM, 20)),
        ("key", "AccountKey={};x=y", _c("n13", BASE64, 86) + "=="),
        ("key", "signing-key: {}", _c("n14", HEX, 64)),
        ("npm token", "//npm.example.org/:_authToken={}", uuid("tuning/n15")),
        ("key", "key: {}", _c("n16", ALNUM, 32)),
        ("key", "Cookie: sid={}", _c("n17", ALNUM, 32)),
        ("key", "sessionKey = '{}'", _c("n18", BASE64, 44)),
        ("token", "token=" + "{}", _c("n19", ALNUM, 500)),
    ]


def _said() -> list[tuple[str, str, str]]:
    return [
        ("password", "my password is {}", "hunter2"),
        ("password", "My password is {}.", "marigold"),
        ("password", "our router password is: {}", "gooseberry"),
        ("password", "the password is {}", "Pa55word!"),
        ("password", "The password for the staging box is {}, ask Ann", "k0ala-tree"),
        ("password", "password for the NAS: {}", "syn0logy!"),
        ("password", "Her password was reset to {} today", "Autumn24!"),
        ("password", 'the password is "{}"', "swordfish"),
        ("key", "the api key is {}", _c("s1", HEX, 32)),
        ("token", "The token for the bot is {} and lasts a year", _c("s2", ALNUM, 30)),
        ("token", "the secret was changed to {}", _c("s3", ALNUM, 20)),
        ("password", "login with ann/{} on the NAS", "hunter2xyz"),
        ("password", "Log in as ann / {}.", "plum!77tree"),
        ("password", "the creds are root:{}", "t0ddler"),
        ("password", "ssh in as ann with the password {}", "hunter22"),
        ("password", "user ann, password {}, port 22", "marigold#"),
        ("password", "password = '{}'", "x9$kLm2!q"),
        ("password", "password: {}", "v2!summer"),
        ("password", "password: '{}'", "$x9kLm2!q"),
        (
            "AWS secret key",
            "The id is AKIA" + _c("s4", UPPER36, 16) + ", and what belongs to it is {} (prod)",
            _c("s5", BASE64, 40),
        ),
        (
            "AWS secret key",
            "{}\n is the half of ASIA" + _c("s6", UPPER36, 16),
            _c("s7", BASE64, 40),
        ),
    ]


def _alone() -> list[tuple[str, str, str]]:
    return [
        ("random token", "try {} instead", _c("a1", ALNUM, 40)),
        ("random token", "he sent `{}`", _c("a2", URLSAFE, 43)),
        ("random token", "({})", _c("a3", ALNUM, 64)),
        ("random token", "paste {}.", _c("a4", ALNUM, 36)),
    ]


def harmless() -> list[str]:
    """Return texts without a secret that look as if they had one."""
    return [*_digests(), *_placeholders(), *_prose(), *_code(), *_names()]


def _digests() -> list[str]:
    return [
        f"commit {_c('x1', HEX, 40)}",
        f"fixed in {_c('x2', HEX, 7)}",
        f"run {uuid('tuning/x3')}",
        f"sha256:{_c('x4', HEX, 64)}",
        f'resolved integrity "sha512-{_c("x5", BASE64, 86)}=="',
        f"checksum = {_c('x6', HEX, 64)}",
        f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB{_c('x7', BASE64, 340)} ann@laptop",
        f"-----BEGIN CERTIFICATE-----\n{_c('x8', ALNUM, 64)}\n-----END CERTIFICATE-----",
        f"-----BEGIN PUBLIC KEY-----\n{_c('x9', ALNUM, 64)}\n-----END PUBLIC KEY-----",
        f"data:image/gif;base64,R0lGOD{_c('x10', ALNUM, 80)}",
        f"data:font/woff2;base64,{_c('x11', ALNUM, 120)}",
        f'LOGO = b"{png("tuning/x12", 60)}"',
        f"id:{_c('x13', CROCKFORD, 8)} and {_c('x14', CROCKFORD, 8)}",
        f"01{_c('x15', CROCKFORD, 24).upper()}",
        f"key: {_c('x16', HEX, 40)}",
        f"cache-key: linux-{_c('x17', HEX, 64)}",
        f"pay to 1{_c('x18', '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 33)}",
        f"ipfs://Qm{_c('x19', ALNUM, 44)}",
        f"SHA256:{_c('x20', BASE64, 43)} (ED25519)",
        f"_9j_{_c('x21', ALNUM, 60)}",
    ]


def _placeholders() -> list[str]:
    return [
        "sk-...",
        "sk-" + "x" * 40,
        "OPENAI_API_KEY=sk-proj-your-api-key-here",
        "api_key: <your-key>",
        "token = ${TOKEN}",
        "password: $DB_PASSWORD",
        "API_KEY=$API_KEY make run",
        "key = os.environ['API_KEY']",
        "token=os.getenv('TOKEN2')",
        "password = changeme",
        'password: "example"',
        'password: "your_password"',
        "AKIAIOSFODNN7" + "EXAMPLE",
        "ghp_" + "X" * 36,
        "secret: {{ vault_secret_42 }}",
        "secret = {secret1}",
        "password: '********'",
        "postgres://user:<password>@host/db",
        "postgres://user:$PASSWORD@host/db",
        "https://{user}:{password}@host/x",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer YOUR_TOKEN_HERE",
        "Authorization: Basic <credentials>",
        "curl -u user:$PASS https://example.org",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- stands base64",
        "password: [redacted: password]",
        "token: (see vault)",
        "secret: arn:aws:secretsmanager:eu-central-1:123456789012:secret:app1",
        "hooks." + "slack.com/services/T00000000/B00000000/" + "X" * 24,
        "my_token = config.get('token2')",
        "_authToken=${NPM_TOKEN}",
        "PASSWORD=REPLACE_THIS_VALUE_1",
        "token: env:CI_TOKEN_2",
    ]


def _prose() -> list[str]:
    return [
        "the password is stored in vault",
        "never commit a token: rotate it",
        "The password is wrong.",
        "my password is expired",
        "Your password is too weak.",
        "my password is stored.",
        "our password was compromised.",
        "The password is SHA256-hashed with a salt",
        "password: required",
        "Password: at least 8 characters",
        "The token is invalid.",
        "the secret is to keep it simple",
        "the key is to test early and often",
        "key: value",
        "the api key is missing",
        "Secrets: see docs/secrets.md",
        "token: a unit of text, about 4 characters",
        "authorization: who may do what",
        "Authorization: Bearer authentication is used everywhere",
        "Bearer tokens are opaque, 40 characters long",
        "A password manager, e.g. 1Password7, keeps them",
        "the password is 12 characters long",
        "passphrase: think of four random words",
        "Token limit: 128000, output: 4096",
        "The session is over; the cookie: gone",
        "password reset was done on 2026-02-27",
        "the password field is 'required'",
        "set the password to something long",
        "secret santa: 24.12., bring 2 gifts",
        "Passwort: siehe Tresor",
        "keyboard layout: qwertz, hotkey: ctrl+alt+f2",
        "The author: J. K. 3rd; monkey: 7",
        "His password is secret.",
        "the password was changed in March 2026",
        "my token is running out of time",
        "log in with SAML/OIDC2",
        "login with name/email is deprecated",
        "log in as admin/root",
        "the creds are in config/prod2",
        "sign in with Google/GitHub",
        "credentials: see wiki/Login2024",
        "log in with the password you were sent",
        "with password authentication off",
        "use password hashing with argon2id",
        "use pass 2 of 3",
        "and pass v2.1.0 to the linker",
        "use the password ${DB_PASSWORD2}",
        "with the password 123456 it is open",
        "login is /auth/v2/token",
    ]


def _code() -> list[str]:
    return [
        "def connect(password: str) -> None:",
        "connect(user=user, password=password2)",
        "token = get_token(user_id1)",
        "token = tokens[12345]",
        "this.token = response.data.token2;",
        "password = data['password1']",
        "const secret: string = readSecret2();",
        '"password": {"type": "string", "minLength": 8}',
        '{"token": "identifier", "line": 12}',
        '"password": "password"',
        '"password": "string"',
        "PASSWORD_MIN_LENGTH = 12",
        "token_count: 123456789",
        "password_hash: pbkdf2",
        "tokens = 15000",
        "secretName: tls-cert-2024-01",
        "secret: my-app-tls-2024",
        "key: user:1234:profile:v2",
        "key = 'customer_address_line_2_normalised'",
        "sort key: created_at_2024_desc",
        "getUserByIdAndValidateOAuth2TokenNow(user)",
        "handleOnClickCreateNewProjectV2Button2",
        "AbstractSingletonProxyFactoryBean3Test4",
        "token.type == 'RS256'",
        "algorithm: HS256, token: RS256",
        "token: v1.2.3",
        "secret: base64",
        "auth: {user: root, pass: null}",
        "password => bcrypt(value)",
        "pwd: /home/ann/project42",
        "PWD=/srv/app2",
        "pass = 3/12, fail = 2",
        "PASS: test_login_v2",
        "key = 0.1234567",
        "salt: 16 bytes",
        "signature: (int x1, int x2) -> int",
        "password: 2026-02-27",
        "token=null, secret=undefined",
        'input[type="password"]',
        '<label for="password">Password 2</label>',
        'placeholder="Password" name="password"',
        "apiKey={process.env.NEXT_PUBLIC_KEY_2}",
        "token: Optional[str] = None",
        "cookie: SameSite=Lax; Path=/",
        "--token TOKEN --password PASSWORD",
        "credentials: 'same-origin'",
        "api_key: settings.OPENAI_API_KEY",
    ]


def _names() -> list[str]:
    return [
        "src/components/UserProfile2/OAuthTokenRefreshButton3.tsx",
        "/home/ann/.cache/pip/http-v2/Ab/12/Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78",
        "https://example.org/files/" + _c("y1", ALNUM, 44) + "?v=2",
        "https://meet.example.org:8443/room?u=ann@example.org",
        "http://[::1]:8080/@vite/client",
        "git+ssh://git@github.com:22/acme/site.git",
        "engramdown-0.1.0-py3-none-any.whl",
        "Screenshot_2026-02-27_at_10.15.00_Edited_V2_Final_Copy3.png",
        "my-Branch-Name-2026-Fix-Login-For-Partners-Phase2",
        "numpy==2.1.3; python_version >= '3.11'",
        "sk-learn-contrib-imbalanced-learning-2",
        "npm_config_registry and npm_package_version_major_1",
        "hf_hub_download_with_retries_2024",
        "pypi-publish-action-for-monorepos-v2",
        "task-20260227101500-build-and-test-all",
        "disk-0123456789abcdefghij",
        "v2.0.0-rc.1+build.20260227",
        "2026-02-27T10:15:00Z",
        "00:1B:44:11:3A:B7",
        "ann@example.org, +49 170 1234567",
        "Lopadotemachoselachogaleokranioleipsanodrimhypotrimmato",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "==============================================",
        "k8s_POD_coredns-5d78c9869d-abcde_kube-system",
    ]
