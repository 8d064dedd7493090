from engramdown.secrets.redaction import find_secrets as find_secrets
from engramdown.secrets.redaction import redact as redact
