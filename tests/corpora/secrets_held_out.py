"""Secrets and harmless look-alikes that no pattern was tuned on.

Promises: from other templates than the texts that were, and not changed since they were first
run; a pattern that is changed because of a line in here makes the figure worthless.
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
    rows = [*_services(), *_files(), *_addresses(), *_settings(), *_speech()]
    return [Planted(kind, text.replace("{}", value), value) for kind, text, value in rows]


def _c(label: str, alphabet: str, length: int) -> str:
    return chars("second/" + label, alphabet, length)


def _services() -> list[tuple[str, str, str]]:
    return [
        ("OpenAI", "- Ask Tom before you use {} <- prod", "sk-" + _c("1", ALNUM, 48)),
        ("OpenAI", "curl ... -H 'api-key: {}'", "sk-proj-" + _c("2", URLSAFE, 156)),
        ("Anthropic", "ANTHROPIC_API_KEY is set to {}", "sk-ant-api03-" + _c("3", URLSAFE, 95)),
        ("OpenRouter", "model via {}?", "sk-or-v1-" + _c("4", HEX, 64)),
        ("GitHub", "origin https://x-access-token:{}@github.com/a/b", "ghs_" + _c("5", ALNUM, 36)),
        ("GitHub", "TOKEN={} ./release.sh", "ghp_" + _c("6", ALNUM, 36)),
        ("GitHub", "pat,{},2026", f"github_pat_{_c('7', ALNUM, 22)}_{_c('8', ALNUM, 59)}"),
        ("GitLab", "the CI variable holds [{}]", "glpat-" + _c("9", URLSAFE, 20)),
        ("GitLab", "runner token {}", "glrt-" + _c("10", URLSAFE, 20)),
        ("Slack", "export SLACK='{}'", f"xoxb-{_c('11', DIGITS, 11)}-{_c('12', ALNUM, 24)}"),
        ("Slack", "{} belongs to the old app", f"xoxe-1-{_c('13', ALNUM, 140)}"),
        (
            "Slack webhook",
            '{"url": "https://hooks.' + 'slack.com/services/{}"}',
            f"T{_c('14', UPPER36, 10)}/B{_c('15', UPPER36, 10)}/{_c('16', ALNUM, 24)}",
        ),
        ("AWS key id", "id={}&region=eu-west-1", "AKIA" + _c("17", UPPER36, 16)),
        ("AWS secret", "export AWS_SECRET_ACCESS_KEY={}", _c("18", BASE64, 40)),
        ("AWS secret", '"SecretAccessKey": "{}"', _c("19", BASE64, 40)),
        ("Google", "const key = '{}';", "AIza" + _c("20", URLSAFE, 35)),
        ("Google OAuth", '"client_secret":"{}"', "GOCSPX-" + _c("21", URLSAFE, 28)),
        ("Stripe", "stripe listen --api-key {}", "sk_live_" + _c("22", ALNUM, 99)),
        ("Stripe", "hook secret {}.", "whsec_" + _c("23", ALNUM, 32)),
        ("npm", "echo {} | npm login", "npm_" + _c("24", ALNUM, 36)),
        ("PyPI", "UV_PUBLISH_TOKEN={}", "pypi-AgEIcHlwaS5vcmc" + _c("25", URLSAFE, 140)),
        ("Hugging Face", "from_pretrained(..., token='{}')", "hf_" + _c("26", ALNUM, 34)),
        (
            "SendGrid",
            "SENDGRID: {}",
            f"SG.{_c('27', URLSAFE, 22)}.{_c('28', URLSAFE, 43)}",
        ),
        ("Twilio", "Client('AC', '{}') was in the notebook", "SK" + _c("29", HEX, 32)),
        ("Telegram", "telegram: {}", f"{_c('30', '123456789', 10)}:AA{_c('31', URLSAFE, 33)}"),
        ("Docker Hub", "DOCKER_TOKEN={}", "dckr_pat_" + _c("32", URLSAFE, 27)),
        ("Vault", "X-Vault-Token: {}", "hvs.CAES" + _c("33", URLSAFE, 90)),
        ("DigitalOcean", "do: {}", "dop_v1_" + _c("34", HEX, 64)),
        ("Linear", "LINEAR {}", "lin_api_" + _c("35", ALNUM, 40)),
        ("Shopify", "X-Shopify-Access-Token: {}", "shpat_" + _c("36", HEX, 32)),
        ("Databricks", "databricks configure: {}", "dapi" + _c("37", HEX, 32)),
        ("Groq", "groq({})", "gsk_" + _c("38", ALNUM, 52)),
        ("Grafana", "grafana {}", f"glsa_{_c('39', ALNUM, 32)}_{_c('40', HEX, 8)}"),
        ("Postman", "postman {}", f"PMAK-{_c('41', HEX, 24)}-{_c('42', HEX, 34)}"),
        ("Airtable", "AIRTABLE_TOKEN={}", f"pat{_c('43', ALNUM, 14)}.{_c('44', HEX, 64)}"),
        ("Sentry", "SENTRY_AUTH_TOKEN={}", "sntrys_" + _c("45", ALNUM, 120)),
        ("JWT", "window.token = '{}'", jwt("second/46")),
        ("JWT", "Set-Cookie: auth={}; HttpOnly", jwt("second/47", "PS256")),
        ("Cloudflare", "CF_API_TOKEN: {}", _c("48", URLSAFE, 40)),
        ("Azure", "AZURE_CLIENT_SECRET={}", _c("49", ALNUM, 3) + "8Q~" + _c("50", URLSAFE, 34)),
    ]


def _files() -> list[tuple[str, str, str]]:
    line = "-----{} {}PRIVATE KEY-----"
    body = key_lines("second/pem", 5)
    ec_begin, ec_end = line.format("BEGIN", "EC "), line.format("END", "EC ")
    ssh_begin, ssh_end = line.format("BEGIN", "OPENSSH "), line.format("END", "OPENSSH ")
    begin = line.format("BEGIN", "")
    return [
        ("private key", f"cat key.pem\n{ec_begin}\n{{}}\n{ec_end}\n$", body),
        ("private key", f"```\n{ssh_begin}\n{{}}\n{ssh_end}\n```", body),
        ("private key", f"private_key: |\n  {begin}\n  {{}}", body.replace("\n", "\n  ")),
        ("private key", f'PRIVATE_KEY="{begin}\\n{{}}"', body.replace("\n", "\\n")),
        ("netrc", "default login anonymous password {}", "sp1nnaker"),
        ("pgpass", "PGPASSWORD={} psql -h db shop", "tr0pical"),
        (
            "Docker config",
            '"auths": {"https://index.docker.io/v1/": {"auth": "{}"}}',
            _c("f1", BASE64, 36),
        ),
        ("npm", "registry:_authToken = {}", _c("f2", LOWER36, 36)),
        ("age", "# public key: age1x\n{}", "AGE-SECRET-KEY-1" + _c("f3", UPPER36, 58)),
    ]


def _addresses() -> list[tuple[str, str, str]]:
    return [
        (
            "connection string",
            "SQLALCHEMY_DATABASE_URI = 'postgresql://crm:{}@pg:5432/crm'",
            "mOnsoon-" + _c("u1", DIGITS, 2),
        ),
        ("connection string", "amqps://worker:{}@rabbit.example.org/vhost", _c("u2", URLSAFE, 22)),
        ("connection string", "clickhouse://default:{}@ch/metrics?secure=1", "qu4ck!"),
        (
            "connection string",
            "redis-cli -u redis://default:{}@redis-1234.example.net:1234",
            _c("u3", ALNUM, 32),
        ),
        ("connection string", "Driver={ODBC};Server=x;Uid=ann;Pwd={};", "0dbcPw"),
        ("connection string", "jdbc:mysql://db/shop?user=root&password={}", "jdbcRoot9"),
        (
            "basic auth",
            "git remote set-url origin https://ann:{}@git.example.org/a.git",
            "mapleleaf7",
        ),
        ("basic auth", "proxy = http://corp%5Cann:{}@proxy:3128", "Pr0xy!Pass"),
        ("basic auth", "ftp://backup:{}@10.1.1.9/dumps", "n1ghtly"),
        ("basic auth", "curl --user admin:{} localhost:9200", "el4stic"),
        ("bearer", "fetch(url, {headers: {Authorization: `Bearer {}`}})", _c("u4", URLSAFE, 48)),
        ("bearer", "authorization=Bearer {}", _c("u5", ALNUM, 24)),
        ("bearer", "It wants a Bearer {} header", _c("u6", HEX, 64)),
        ("basic header", "Authorization: Basic {}", "cm9vd" + _c("u7", ALNUM, 11) + "="),
        (
            "signature",
            "https://acc.blob.example.net/c/f?se=2027&sig={}",
            _c("u8", ALNUM, 41) + "%3D",
        ),
    ]


def _settings() -> list[tuple[str, str, str]]:
    return [
        ("password", "spring.datasource.password={}", "g1raffe"),
        ("password", "ansible_become_password: {}", "B3come!"),
        ("password", "auth:\n  username: root\n  password: '{}'", "minio-secr3t"),
        ("password", 'MYSQL_PASSWORD: "{}"', "bluebird"),
        ("password", "REDIS_PASS={}", "c0ral-reef"),
        ("password", "ALTER ROLE app WITH PASSWORD '{}';", "al7erNow"),
        ("password", "$password = '{}';", "Qwertz!23"),
        ("password", 'set_password("{}")', "Kestrel44"),
        ("password", 'UserCredentials(user="a", password="{}")', "orchid"),
        ("password", "wpa_passphrase={}", "FreundlicheKatze12"),
        ("secret", "app.secret_key = '{}'", _c("s1", HEX, 24)),
        ("secret", "SESSION_SECRET={}", "keyboard-cat-" + _c("s2", DIGITS, 4)),
        ("secret", "OAUTH_CLIENT_SECRET: {}", _c("s3", URLSAFE, 32)),
        ("secret", 'hmac_secret := []byte("{}")', _c("s4", ALNUM, 24)),
        ("token", "NETLIFY_AUTH_TOKEN={}", _c("s5", URLSAFE, 43)),
        ("token", "bot_token: '{}'", _c("s6", ALNUM, 26)),
        ("token", "CSRF-Token: {}", _c("s7", HEX, 40)),
        ("token", '"refresh_token" : "{}"', _c("s8", URLSAFE, 64)),
        ("API key", "appid/api_key: {}", _c("s9", HEX, 32)),
        ("API key", 'ALGOLIA_ADMIN_API_KEY="{}"', _c("s10", HEX, 32)),
        ("API key", "x-api-key = {}", uuid("second/s11")),
        ("API key", "headers['X-Api-Key'] = '{}'", _c("s12", ALNUM, 32)),
        ("high entropy", "MASTER_KEY={}", _c("s13", HEX, 32)),
        ("high entropy", "fernet_key = '{}'", _c("s14", URLSAFE, 43) + "="),
        ("high entropy", "NEXTAUTH_SECRET={}", _c("s15", BASE64, 43) + "="),
        ("high entropy", "salt: {}", _c("s16", ALNUM, 32)),
    ]


def _speech() -> list[tuple[str, str, str]]:
    return [
        ("password", "Remember: my password is {}", "Zugspitze2962"),
        ("password", "my laptop password is {}, do not share it", "periwinkle"),
        ("password", "The guest wifi password is {}", "welcome-2-us"),
        ("password", "password of the admin account: {}", "Adm1n-Tulip"),
        ("password", "We set the database password to {} last night", "c4rrotcake"),
        ("password", "Our VPN password is now {}!", "Wombat#5"),
        ("password", 'the password was "{}" until May', "oldtimer"),
        ("token", "your token is {}", _c("p1", ALNUM, 32)),
        ("token", "The secret for the webhook is {}", _c("p2", HEX, 40)),
        ("API key", "our api key for maps is {}", _c("p3", ALNUM, 39)),
        ("high entropy", "Tom wrote {} on a sticky note", _c("p4", ALNUM, 48)),
        ("high entropy", "it only answers to '{}'", _c("p5", ALNUM, 36)),
    ]


def harmless() -> list[str]:
    """Return texts without a secret that look as if they had one."""
    return [*_hashes(), *_gaps(), *_sentences(), *_sources(), *_labels()]


def _hashes() -> list[str]:
    return [
        f"merge base is {_c('h1', HEX, 40)}, rebase onto it",
        f"revert {_c('h2', HEX, 9)} and {_c('h3', HEX, 9)}",
        f"trace_id={_c('h4', HEX, 32)} span_id={_c('h5', HEX, 16)}",
        f"image: ghcr.io/acme/api@sha256:{_c('h6', HEX, 64)}",
        f"sha512 = {_c('h7', HEX, 128)}",
        f'"version": "1.2.3", "integrity": "sha1-{_c("h8", BASE64, 27)}="',
        f"correlation id {uuid('second/h9')}",
        f"urn:uuid:{uuid('second/h10')}",
        f'cargo checksum = "{_c("h11", HEX, 64)}"',
        f"golang.org/x/sync v0.8.0 h1:{_c('h12', BASE64, 43)}=",
        f"github.com ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{_c('h13', BASE64, 200)}",
        "-----BEGIN CERTIFICATE REQUEST-----\n"
        + key_lines("second/h14", 4)
        + "\n-----END CERTIFICATE REQUEST-----",
        f'<img src="data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ{_c("h15", BASE64, 100)}">',
        f"const PIXEL = '{png('second/h16', 48)}'",
        f"favicon: data:image/x-icon;base64,{_c('h17', BASE64, 150)}==",
        f"Key id {_c('h18', HEX, 16).upper()} signed the tag",
        f"memory {_c('h19', CROCKFORD, 8)} was learned in 20260227-101500-4f2a#7",
        f"Last-Event-ID: {_c('h20', CROCKFORD, 26).upper()}",
        f"fingerprint MD5:{':'.join(_c('h21', HEX, 32)[i : i + 2] for i in range(0, 32, 2))}",
        f"object {_c('h22', HEX, 40)}\ntype commit\ntag v1.0",
    ]


def _gaps() -> list[str]:
    return [
        "ANTHROPIC_API_KEY=sk-ant-api03-your-key-here-please-replace",
        "sk-ant-api03-" + "X" * 60,
        "export GH_TOKEN=$(gh auth token)",
        "github_token: ${{ secrets.GITHUB_TOKEN }}",
        "password: ${DB_PASSWORD:-changeme}",
        "db_password = var.db_password",
        "password = data.aws_secretsmanager_secret_version.db.secret_string",
        "api_key = st.secrets['openai_key_2']",
        "token: {{ .Values.apiToken }}",
        "Authorization: Bearer {token}",
        "Authorization: Bearer <YOUR_ACCESS_TOKEN>",
        "postgresql://{user}:{password}@{host}/{db}",
        "mongodb://<user>:<pass>@localhost",
        "redis://:${REDIS_PASSWORD}@redis:6379",
        "SECRET_KEY=replace-me-in-production",
        "password: !secret wifi_password",
        "secret: xxxxxxxxxxxxxxxx",
        "TELEGRAM_BOT_TOKEN=0000000000:XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        "AIza... keys are public by design",
        "an AKIA id has twenty characters",
        'curl -H "X-Api-Key: $KEY" https://api.example.org',
        "the file begins with -----BEGIN OPENSSH PRIVATE KEY----- as always",
        "password: (see 1Password)",
        "-u $USER:$PASSWORD",
        "pwd: &default_pwd",
        "api_token = env('API_TOKEN', default='')",
    ]


def _sentences() -> list[str]:
    return [
        "The password policy: 12 characters, rotated never",
        "Ask for the password: nobody writes it down",
        "The API key is read from the keychain",
        "My password is the same everywhere, sadly",
        "his password was stolen",
        "The secret is stored under prod/db in Vault",
        "tokens expire after 3600 seconds",
        "password: optional, default: none",
        "Token budget: 1500 for rules2",
        "a key: the thing that opens the door",
        "Our secret sauce: tests first, 100% coverage",
        "the token bucket refills at 50/min",
        "A salt: 16 random bytes per user",
        "session: 45 minutes with Dr. Mbeki",
        "Keys: C major, then A minor at 120bpm",
        "Cookie: chocolate chip, 200g flour",
        "signature: Jane Doe, 27.02.2026",
        "credentials: see the onboarding page",
        "Forgot your password? Click here to reset it",
        "password is case-sensitive",
        "Hottentottenstottertrottelmutterbeutelrattenlattengitterkofferattentaeter",
    ]


def _sources() -> list[str]:
    return [
        "const hasPassword = user.password !== undefined;",
        "password: z.string().min(8).max(128)",
        "password = models.CharField(max_length=128)",
        "token: Mapped[str] = mapped_column(String(64))",
        "if (token.kind === SyntaxKind.OpenBraceToken) {",
        "secret_name = f'app-{env}-tls'",
        "print(f'token={token!r}')",
        "logger.info('token: %s', token_id)",
        "ENV PASSWORD_FILE=/run/secrets/db_password",
        "@pytest.mark.parametrize('key', ['a1', 'b2'])",
        "key=lambda item: (item.score, item.id2)",
        "useGetUserSubscriptionDetailsByAccountIdV3Query",
        "java.security.KeyStore$PasswordProtection@1b6d3586",
        "INSERT INTO tokens (id, name) VALUES (17, 'ci')",
        "password2 = forms.CharField(label='Password confirmation')",
        "auth = HTTPBasicAuth(user, passwd)",
        "tokenizer: cl100k_base",
        "api_key_header = APIKeyHeader(name='X-API-Key')",
        "secretsmanager:GetSecretValue",
        "Authorization: 'Bearer ' + token",
    ]


def _labels() -> list[str]:
    return [
        "https://www.notion.so/acme/Roadmap-2026-" + _c("l1", HEX, 32),
        "https://drive.google.com/file/d/" + _c("l2", URLSAFE, 33) + "/view?usp=sharing",
        "https://hub.docker.com/layers/acme/api/latest/images/sha256-" + _c("l3", HEX, 64),
        "/System/Volumes/Data/private/var/folders/zz/T/pytest-of-ann/pytest-42",
        "C:\\Users\\Ann\\AppData\\Local\\Programs\\Python\\Python312\\Scripts",
        "report_Q3_2026_EMEA_Final_v12_reviewed_by_Ann_and_Tom.xlsx",
        "i-0a1b2c3d4e5f67890 and subnet-0f1e2d3c4b5a69788 are gone",
        "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf",
        "gcr.io/acme-prod-123456/api-server:2026.02.27-1842",
        "python3.12-slim-bookworm, node:22-alpine3.20",
        "ISO8601Formatter2UTCOffsetMinutes",
        "pay_invoice_2026_02_acme_gmbh_4711",
        "CVE-2026-33010 and GHSA-9x7q-4hfr-2m3p",
        "flight LH1842 PNR X7QK2P seat 12A",
        "tel:+4930901820, fax 030/90182-99",
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
        "lat 52.5200066, lon 13.4049540, alt 34.1",
        "Zażółć gęślą jaźń 2026",
        "docs/adr/0012-use-argon2id-for-password-hashing.md",
        "pip install torch==2.5.1+cu124 --index-url https://download.pytorch.org/whl/cu124",
    ]
