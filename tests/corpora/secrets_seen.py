"""Secrets and look-alikes that were held out from the first patterns, and have been seen since.

Promises: in their one run as held-out texts 102 of 103 secrets were found, with one alarm on 117
look-alikes. The patterns were changed because of them: what is held out now stands in
secrets_held_out.py.
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
    """Return texts that hold a secret, of more than 25 kinds."""
    return [
        Planted(kind, template.replace("{}", value), value)
        for kind, template, value in [*_model_keys(), *_forges(), *_clouds(), *_chat(), *_spoken()]
    ]


def _c(label: str, alphabet: str, length: int) -> str:
    return chars("held-out/" + label, alphabet, length)


def _model_keys() -> list[tuple[str, str, str]]:
    return [
        ("OpenAI", "he pasted {} into the chat by accident", "sk-" + _c("o1", ALNUM, 48)),
        ("OpenAI", "client = OpenAI(api_key='{}')", "sk-proj-" + _c("o2", URLSAFE, 120)),
        ("OpenAI", "OPENAI_ADMIN={}", "sk-admin-" + _c("o3", URLSAFE, 74)),
        (
            "OpenAI",
            "service account ({}) of the eval runner",
            "sk-svcacct-" + _c("o4", URLSAFE, 90),
        ),
        ("Anthropic", "x-api-key: {}", "sk-ant-api03-" + _c("a1", URLSAFE, 93) + "AA"),
        ("Anthropic", "Claude login wrote {} to disk", "sk-ant-oat01-" + _c("a2", URLSAFE, 86)),
        ("Anthropic", 'anthropic:\n  key: "{}"\n', "sk-ant-admin01-" + _c("a3", URLSAFE, 93)),
        ("OpenRouter", "The router answers with {}.", "sk-or-v1-" + _c("or1", HEX, 64)),
        ("Hugging Face", "huggingface-cli login --token {}", "hf_" + _c("hf1", ALNUM, 34)),
        ("Hugging Face", "push with user:{} as remote", "hf_" + _c("hf2", ALNUM, 37)),
        ("Groq", "Groq: {}", "gsk_" + _c("g1", ALNUM, 52)),
        ("Replicate", "export REPLICATE={}", "r8_" + _c("r1", ALNUM, 37)),
    ]


def _forges() -> list[tuple[str, str, str]]:
    pem = "-----{} {}PRIVATE KEY-----"
    begin, end = pem.format("BEGIN", "RSA "), pem.format("END", "RSA ")
    openssh = pem.format("BEGIN", "OPENSSH ")
    body = key_lines("held-out/pem")
    flat = body.replace("\n", "\\n")
    return [
        ("GitHub", "git clone https://{}@github.com/acme/site", "ghp_" + _c("gh1", ALNUM, 36)),
        ("GitHub", "the bot answers as gho: {} since May", "gho_" + _c("gh2", ALNUM, 36)),
        ("GitHub", "Actions printed {}\n", "ghs_" + _c("gh3", ALNUM, 36)),
        ("GitHub", "refresh={};", "ghr_" + _c("gh4", ALNUM, 76)),
        (
            "GitHub",
            "fine-grained: `{}` (expires in June)",
            "github_pat_" + _c("gh5", ALNUM, 22) + "_" + _c("gh6", ALNUM, 59),
        ),
        ("GitLab", "PRIVATE-TOKEN: {}", "glpat-" + _c("gl1", URLSAFE, 20)),
        ("GitLab", "runner registered with ({})", "glpat-" + _c("gl2", URLSAFE, 27)),
        ("npm", "npm publish failed for {}, it is revoked", "npm_" + _c("n1", ALNUM, 36)),
        ("npm", "//registry.example.org/:_authToken={}\n", uuid("held-out/n2")),
        (
            "PyPI",
            "twine upload -u __token__ -p {}",
            "pypi-AgEIcHlwaS5vcmc" + _c("p1", URLSAFE, 150),
        ),
        ("PyPI", "[testpypi]\npassword = {}\n", "pypi-AgENdGVzdC5weXBp" + _c("p2", URLSAFE, 160)),
        ("private key", f"deploy key of the old server:\n{begin}\n{{}}\n{end}\nRotate it.", body),
        ("private key", f'"signing": "{begin}\\n{{}}\\n{end}\\n"', flat),
        ("private key", f"the log was cut here: {openssh}\n{{}}", body.replace("MII", "b3B", 1)),
        ("private key", f"{begin} {{}} {end}", body.replace("\n", " ")),
        ("Docker Hub", "docker login -u acme, then {}", "dckr_pat_" + _c("d1", URLSAFE, 27)),
        ("Vault", "VAULT: {}", "hvs." + _c("v1", URLSAFE, 90)),
        (
            "Terraform",
            "credentials app.terraform.io {}",
            _c("tf1", ALNUM, 14) + ".atlasv1." + _c("tf2", ALNUM, 67),
        ),
    ]


def _clouds() -> list[tuple[str, str, str]]:
    return [
        ("AWS key id", "boto3 picked up {} from the profile", "AKIA" + _c("aw1", UPPER36, 16)),
        ("AWS key id", "[temp] {} / expires at noon", "ASIA" + _c("aw2", UPPER36, 16)),
        ("AWS secret", "aws_secret_access_key={}", _c("aw3", BASE64, 40)),
        ("AWS secret", "AWS_SECRET_ACCESS_KEY: '{}'", _c("aw4", BASE64, 40)),
        ("AWS secret", f"new user,AKIA{_c('aw5', UPPER36, 16)},{{}}", _c("aw6", BASE64, 40)),
        ("Google", "maps.googleapis.com/js?key={}&v=3", "AIza" + _c("go1", URLSAFE, 35)),
        ("Google", "Firebase web config has {} in it", "AIza" + _c("go2", URLSAFE, 35)),
        ("Google OAuth", "client: {}", "GOCSPX-" + _c("go3", URLSAFE, 28)),
        ("Google OAuth", "got {} back", "ya29." + _c("go4", URLSAFE, 150)),
        (
            "Azure",
            "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core",
            _c("az1", BASE64, 86) + "==",
        ),
        (
            "Azure",
            "Endpoint=sb://acme/;SharedAccessKeyName=Root;SharedAccessKey={}",
            _c("az2", BASE64, 43) + "=",
        ),
        ("DigitalOcean", "doctl auth init -t {}", "dop_v1_" + _c("do1", HEX, 64)),
        ("Stripe", "Stripe.api_key = {}", "sk_live_" + _c("s1", ALNUM, 24)),
        ("Stripe", "restricted one for the importer: {}", "rk_live_" + _c("s2", ALNUM, 99)),
        ("Stripe", "endpoint verifies with {}", "whsec_" + _c("s3", ALNUM, 32)),
        ("Databricks", "host: adb.example\ntoken: {}", "dapi" + _c("db1", HEX, 32)),
        ("Shopify", "store admin {}", "shpat_" + _c("sh1", HEX, 32)),
        ("Heroku", "HEROKU_API_KEY={}", uuid("held-out/heroku")),
        ("Cloudflare", 'cloudflare_api_token = "{}"', _c("cf1", URLSAFE, 40)),
        ("Datadog", "DD_API_KEY: {}", _c("dd1", HEX, 32)),
        ("Linear", "linear sdk wants {}", "lin_api_" + _c("li1", ALNUM, 40)),
        ("Notion", "NOTION_SECRET={}", "secret_" + _c("no1", ALNUM, 43)),
    ]


def _chat() -> list[tuple[str, str, str]]:
    hook = "hooks." + "slack.com/services/"
    return [
        (
            "Slack",
            "bot user {} joined #ops",
            f"xoxb-{_c('sl1', DIGITS, 12)}-{_c('sl2', DIGITS, 13)}-{_c('sl3', ALNUM, 24)}",
        ),
        (
            "Slack",
            "legacy: {}",
            f"xoxp-{_c('sl4', DIGITS, 11)}-{_c('sl5', DIGITS, 11)}-{_c('sl6', HEX, 32)}",
        ),
        (
            "Slack webhook",
            f"curl -d @msg https://{hook}{{}}",
            f"T{_c('sl7', UPPER36, 8)}/B{_c('sl8', UPPER36, 10)}/{_c('sl9', ALNUM, 24)}",
        ),
        (
            "Discord webhook",
            "https://discord.com/api/webhooks/118765432109876543/{}",
            _c("di1", URLSAFE, 68),
        ),
        (
            "SendGrid",
            "mail goes out through {} now",
            f"SG.{_c('sg1', URLSAFE, 22)}.{_c('sg2', URLSAFE, 43)}",
        ),
        (
            "SendGrid",
            "smtp:\n  user: apikey\n  pass: {}",
            f"SG.{_c('sg3', URLSAFE, 22)}.{_c('sg4', URLSAFE, 43)}",
        ),
        ("Twilio", "twilio key {} made for tests", "SK" + _c("tw1", HEX, 32)),
        ("Twilio", "TWILIO_AUTH_TOKEN={}", _c("tw2", HEX, 32)),
        (
            "Telegram",
            "our alert bot runs as {}",
            f"{_c('te1', '123456789', 10)}:AA{_c('te2', URLSAFE, 33)}",
        ),
        (
            "Telegram",
            "https://api.telegram.org/bot{}/getMe",
            f"{_c('te3', '123456789', 9)}:AA{_c('te4', URLSAFE, 33)}",
        ),
        ("Mailgun", "api:{} on mailgun", "key-" + _c("mg1", HEX, 32)),
        ("JWT", "cookie session={}; Path=/", jwt("held-out/j1")),
        ("JWT", "decoded {} at jwt.io", jwt("held-out/j2", "RS256")),
        ("JWT", '{"id_token":"{}"}', jwt("held-out/j3", "ES256")),
        (
            "connection string",
            "DATABASE_URL=postgresql+psycopg://app:{}@10.0.3.7:5432/shop",
            _c("cs1", ALNUM, 14),
        ),
        (
            "connection string",
            "mongo is at mongodb+srv://root:{}@cluster0.ab1cd.mongodb.net/?retryWrites=true",
            "Tr1cky%40" + _c("cs2", ALNUM, 6),
        ),
        (
            "connection string",
            "broker_url='amqp://guest2:{}@mq:5672//'",
            "rabbit-" + _c("cs3", LOWER36, 5),
        ),
        ("connection string", "redis://:{}@cache.internal:6379/0 is slow", _c("cs4", ALNUM, 32)),
        (
            "connection string",
            "Server=db1;Database=crm;User Id=sa;Password={};Encrypt=true",
            "Yukon" + _c("cs5", DIGITS, 4),
        ),
        (
            "basic auth",
            "wget https://ci:{}@artifacts.example.org/x.tgz",
            "build" + _c("ba1", DIGITS, 3) + "er",
        ),
        (
            "basic auth",
            "the camera streams at rtsp://viewer:{}@192.168.1.20/1",
            "lantern" + _c("ba2", DIGITS, 2),
        ),
        (
            "basic auth",
            "curl -u jane:{} https://intranet.example.org/report",
            "Plum!" + _c("ba3", ALNUM, 6),
        ),
        ("bearer", "-H 'Authorization: Bearer {}'", _c("be1", ALNUM, 40)),
        ("bearer", 'headers={"Authorization": "Bearer {}"}', _c("be2", HEX, 40)),
        ("basic header", "authorization: Basic {}", "amFuZTpw" + _c("be3", ALNUM, 10) + "=="),
    ]


def _spoken() -> list[tuple[str, str, str]]:
    return [
        ("password", "My password is {}, please keep it", "Gr4nite-Otter"),
        ("password", "my wifi password is {}", "sunflower" + _c("pw1", DIGITS, 3)),
        ("password", "The root password for the lab box is {}.", "b1ueWhale!"),
        ("password", "MYSQL_ROOT_PASSWORD: {}", "kl3in" + _c("pw2", LOWER36, 5)),
        ("password", 'ftp.login(user="ann", passwd="{}")', "t0pf" + _c("pw3", ALNUM, 5)),
        ("password", "export PGPASSWORD={}", "meadow" + _c("pw4", DIGITS, 4)),
        ("password", "pwd = '{}'", "Zebra#" + _c("pw5", DIGITS, 2)),
        ("password", "username: ops\npassword: {}\n", "harbour-" + _c("pw6", DIGITS, 4)),
        (
            "password",
            "machine git.example.org login ann password {}",
            "quartz" + _c("pw7", DIGITS, 5),
        ),
        (
            "password",
            "the admin password was changed to {} yesterday",
            "Wint3r" + _c("pw8", ALNUM, 4),
        ),
        ("password", "<password>{}</password>", "opal" + _c("pw9", DIGITS, 4)),
        ("password", "unlock with passphrase: '{}'", "seven quiet herons at dawn"),
        ("secret", "client_secret: {}", _c("se1", ALNUM, 32)),
        ("secret", "DJANGO_SECRET_KEY='{}'", _c("se2", LOWER36 + "!@#$%^&*(-_=+)", 50)),
        ("secret", "JWT_SECRET={}", _c("se3", ALNUM, 20)),
        ("token", "access_token: {}", _c("to1", ALNUM, 30)),
        ("token", "the deploy token is {} for now", _c("to2", ALNUM, 26)),
        ("token", "?token={}&page=2", _c("to3", LOWER36, 28)),
        ("API key", "X-API-KEY: {}", _c("ak1", ALNUM, 28)),
        ("API key", "apikey = {}", _c("ak2", HEX, 32)),
        ("API key", "weather api key is {}", _c("ak3", HEX, 32)),
        ("high entropy", "ENCRYPTION_KEY={}", _c("he1", BASE64, 43) + "="),
        ("high entropy", "license key: {}", _c("he2", ALNUM, 36)),
        ("high entropy", "session_cookie = '{}'", _c("he3", URLSAFE, 43)),
        ("high entropy", "I left {} on the whiteboard", _c("he4", ALNUM, 40)),
        ("high entropy", "use `{}` when it asks", _c("he5", URLSAFE, 43)),
    ]


def harmless() -> list[str]:
    """Return texts without a secret that look as if they had one."""
    return [*_digests(), *_placeholders(), *_prose(), *_code(), *_names()]


def _digests() -> list[str]:
    return [
        f"Regression came in with {_c('x1', HEX, 40)} last week",
        f"bisect: first bad commit {_c('x2', HEX, 12)}",
        f"index {_c('x3', HEX, 7)}..{_c('x4', HEX, 7)} 100644",
        f"request id {uuid('held-out/x5')} timed out",
        f"FROM python@sha256:{_c('x6', HEX, 64)}",
        f'"integrity": "sha512-{_c("x7", BASE64, 86)}=="',
        f"--hash=sha256:{_c('x8', HEX, 64)}",
        f"MD5 (dump.sql) = {_c('x9', HEX, 32)}",
        f"{_c('x10', HEX, 64)}  dist/engine-1.4.0.tar.gz",
        f"key fingerprint is SHA256:{_c('x11', BASE64, 43)} ann@laptop",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_c('x12', BASE64, 43)} ann@laptop",
        f'ETag: W/"{_c("x13", HEX, 32)}"',
        f"<script src='app.js' integrity='sha384-{_c('x14', BASE64, 64)}'>",
        f"-----BEGIN CERTIFICATE-----\n{key_lines('held-out/x15')}\n-----END CERTIFICATE-----",
        f"-----BEGIN PUBLIC KEY-----\n{key_lines('held-out/x16', 3)}\n-----END PUBLIC KEY-----",
        f"background: url(data:image/png;base64,{png('held-out/x17')})",
        f'ICON = "{png("held-out/x18", 90)}"',
        f"trace 00-{_c('x19', HEX, 32)}-{_c('x20', HEX, 16)}-01",
        f"/nix/store/{_c('x21', LOWER36, 32)}-python3-3.12.4/bin/python",
        f"engram {_c('x22', CROCKFORD, 8)} supersedes {_c('x23', CROCKFORD, 8)}",
        f"ULID 01{_c('x24', CROCKFORD.upper(), 24)} sorts by time",
        f"container {_c('x25', HEX, 12)} exited, image {_c('x26', HEX, 64)}",
        f"h1:{_c('x27', BASE64, 43)}= in go.sum",
        f"gpg: using RSA key {_c('x28', HEX, 40).upper()}",
    ]


def _placeholders() -> list[str]:
    return [
        "export OPENAI_API_KEY=sk-your-key-goes-here",
        "Set GITHUB_TOKEN=ghp_" + "x" * 36 + " first",
        "token: <paste-token-here>",
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7" + "EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
        "password: ${{ secrets.DB_PASSWORD }}",
        'api_key = os.environ["ACME_API_KEY"]',
        "const token = process.env.ACME_TOKEN;",
        "postgres://${DB_USER}:${DB_PASS}@db/prod",
        "mysql://root:<password>@localhost/app",
        "https://user:****@example.org/repo.git",
        "Authorization: Bearer $ACCESS_TOKEN",
        "curl -H 'Authorization: Bearer <token>' https://api.example.org",
        "password = getpass.getpass()",
        "PASSWORD=changeme",
        "secret: REPLACE_ME_WITH_SOMETHING_LONG",
        "client_secret=your-client-secret",
        "token = settings.SLACK_BOT_TOKEN",
        "DB_PASSWORD=%DB_PASSWORD%",
        "Slack tokens start with xoxb- and are long",
        'the key looks like "sk-ant-..." and goes into the keychain',
        "-----BEGIN RSA PRIVATE KEY----- is the first line of such a file",
        "password: !vault |",
        "api_key: {{ lookup('env', 'API_KEY') }}",
        "GITLAB_TOKEN=glpat-XXXXXXXXXXXXXXXXXXXX",
        "password=[redacted: password]",
        "hooks." + "slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "token: op://vault/ci/token",
    ]


def _prose() -> list[str]:
    return [
        "Passwords are hashed with argon2id, never stored in clear",
        "the password is kept in 1Password under Infra",
        "Rotate the token: the old one expires on Friday",
        "a secret: nobody reads the changelog",
        "Ask Jane for the API key; it is not in the repository",
        "my password is too short for the new policy",
        "The token is sent in the header, the password is not",
        "Password: must have at least 12 characters and one digit",
        "key = value pairs, one per line",
        "the secret is out: we ship in March 2026",
        "A bearer token: anyone who holds it may use it",
        "Basic authentication is off since 2024",
        "tokens: 4096 in, 1024 out",
        "the key: to warm up slowly, then 8x400m at threshold pace",
        "Budget is 1500 tokens for rules, 1000 for lessons",
        "pwd: print the working directory",
        "wrong password: the account locks after 5 tries",
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
        "Her password manager is called KeePassXC2",
        "passphrase: a few words that only you know",
        "Token: see https://docs.example.org/auth2/tokens",
    ]


def _code() -> list[str]:
    return [
        "def login(user: str, password: str, token: str | None = None) -> bool:",
        "getUserProfileByIdAndRefreshOAuth2TokenIfNeeded(user)",
        "self.password = hash_password(password, rounds=12)",
        "if token == TokenKind.NUMBER2: advance()",
        '{"type": "string", "format": "password", "minLength": 12}',
        "max_tokens=4096, temperature=0.2",
        "<input type='password' name='password2' autocomplete='new-password'>",
        '"token_type": "bearer", "expires_in": 3600',
        "secretKeyRef: {name: db-credentials-v2, key: password}",
        "CREATE USER app WITH PASSWORD :app_password",
        "primary_key: customer_order_items_2024_pkey",
        "cache-key: v3-deps-ubuntu-22.04-py311",
        "key: deps-${{ hashFiles('uv.lock') }}",
        "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
        "assert response.json()['token'] != old_token1",
        "password_hash = Column(String(128))",
        "const accessKeyRotationIntervalInMilliseconds2024 = 86400000;",
        "apiKey: string; secretToken?: Uint8Array;",
        "token: Annotated[str, Header(alias='X-Token')]",
        "export type PasswordResetV2Request = Pick<UserAccountSettings, 'email'>",
        "login(username=user1, password=user1_pw)",
        "SECRET_KEY = get_random_secret_key()",
    ]


def _names() -> list[str]:
    return [
        "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/1742/fs",
        "IMG_20260227_101500_HDR_Portrait_Edited_Final_V2.jpeg",
        "https://docs.google.com/document/d/" + _c("y1", URLSAFE, 44) + "/edit",
        "https://github.com/acme/site/blob/" + _c("y2", HEX, 40) + "/src/App.tsx#L10-L20",
        "arn:aws:iam::123456789012:role/GitHubActionsDeployRole2024",
        "web-7d4b9c6f5d-x2x9z restarted 14 times",
        "feature/JIRA-1234-Add-OAuth2-Login-For-Partners-Phase2",
        "com.example.billing.InvoiceServiceImplTest2.shouldRoundHalfUp",
        "scikit-learn==1.5.2 pins numpy>=1.26,<3",
        "session 20260227-101500-4f2a#12 taught it",
        "call +49 170 5550123 or write to ann@example.org",
        "IBAN DE89 3704 0044 0532 0130 00",
        "MAC 3c:22:fb:9a:10:7e, IPv6 fe80::3e22:fbff:fe9a:107e",
        "Chrome/126.0.6478.127 Safari/537.36 Mozilla/5.0 (X11; Linux x86_64)",
        "video https://www.youtube.com/watch?v=" + _c("y3", URLSAFE, 11),
        "s3://acme-prod-artifacts-eu-central-1/builds/2026/02/27/Release_1842.zip",
        "ISBN 978-3-16-148410-0 and DOI 10.1038/s41586-020-2649-2",
        "opencode.schema.v2.SessionMessagePartUpdatedEventPayload",
        "main.3f2a9c1b.chunk.js and styles.Ab3dE9x1.css are stale",
        "2026-02-27T10:15:00.123456+00:00 INFO worker-12 done in 3.42s",
        "git@github.com:acme/site.git moved to the new org",
        "TZ=Europe/Berlin LANG=de_DE.UTF-8 PYTHONHASHSEED=0",
    ]
