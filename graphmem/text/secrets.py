"""Secrets in text: keys of known services, values behind a label, passwords in sentences.

Known forms are those of detect-secrets' detectors, but for the ones that take any hash or address
for a key, and those that need time without bounds for a text made against them. What people write,
in several languages, is our own. Letters next to a secret may be of any script, so no pattern leans
on word boundaries.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

_DETECTORS: Sequence[type[RegexBasedDetector]] = (
    AWSKeyDetector,
    AzureStorageKeyDetector,
    DiscordBotTokenDetector,
    GitHubTokenDetector,
    GitLabTokenDetector,
    MailchimpDetector,
    PrivateKeyDetector,
    PypiTokenDetector,
    SendGridDetector,
    SlackDetector,
    SquareOAuthDetector,
    StripeDetector,
    TelegramBotTokenDetector,
    TwilioKeyDetector,
)
_APART = r"(?<![A-Za-z0-9])"  # no letter or digit of ASCII stands before it
_BEGINS = r"(?<![A-Za-z0-9_-])"  # nor a sign that tokens have inside
_FORMS = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
    rf"{_APART}xox[abeoprs]-[A-Za-z0-9-]{{10,}}",
    rf"{_BEGINS}sk-(?=[A-Za-z0-9_-]{{0,200}}[0-9])[A-Za-z0-9_-]{{20}}",
    rf"{_BEGINS}eyJ[A-Za-z0-9_-]{{10,4000}}\.eyJ[A-Za-z0-9_-]{{10,}}",  # a signed token
    rf"{_APART}AIza[A-Za-z0-9_-]{{35}}",
    rf"{_APART}gm_[A-Za-z0-9_-]{{32,}}",  # a key of this service
    rf"{_APART}github_pat_[A-Za-z0-9_]{{40,}}",
    rf"{_APART}(?:hf|npm)_[A-Za-z0-9]{{30,}}",
    rf"{_APART}do[opr]_v1_[a-f0-9]{{64}}",
    rf"{_APART}whsec_[A-Za-z0-9]{{24,}}",
    r"://[^\s:/?#@]*:[^\s/?#@]{3,}@",  # a password in an address of any scheme
)
# a value that nobody would write as a word: letters and digits together
_INSIDE = r"[^\s\"'<>{}$(]{0,200}"
_VALUE = rf"[\"'“”„«`]?(?={_INSIDE}[0-9])(?={_INSIDE}[A-Za-z])[^\s\"'<>{{}}$(,;]"
_LABEL = (
    r"(?i:password|passwd|passwort|kennwort|passphrase|passcode|pwd|mot\s+de\s+passe"
    r"|contrase[nñ]a|senha|wachtwoord|has[lł]o|[sş]ifre|пароль|密码|密碼|パスワード|비밀번호)"
)
_IS = (
    r"(?:\s{0,9}[:\uff1a=]\s{0,9}"
    r"|\s{0,9}(?i:is|ist|lautet|est|es|é|è|jest|это|是|は)(?:\s{1,9}(?i:now|jetzt|ahora|ora))?\s{0,9}[:\uff1a]?\s{0,9})"
)
_KEY_NAME = (
    r"(?i:api|access|secret|private|signing|client|auth|refresh|session|encryption|webhook)"
    r"[ _-]?(?i:access[ _-]?)?(?i:key|token|secret)(?i:[ _-]?base)?"
)
_SENTENCES = (
    rf"{_LABEL}[\"']?{_IS}{_VALUE}{{8}}",
    rf"{_LABEL}\s+(?=\S{{0,200}}[a-z])(?=\S{{0,200}}[A-Z]){_VALUE}{{10}}",
    rf"{_KEY_NAME}[\"']?{_IS}{_VALUE}{{16}}",
    rf"(?i:secret|token|password)[\"']?\s*[:=]\s*{_VALUE}{{16}}",
    r"(?i:authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token))\s+[A-Za-z0-9._~+/=-]{16}",
)
_KNOWN = tuple(re.compile(form) for form in (*_FORMS, *_SENTENCES)) + tuple(
    pattern for detector in _DETECTORS for pattern in detector().denylist
)


# what every one of them has: an address, a header, or a long word with letters and digits or _
_MAY_HOLD_ONE = re.compile(
    r"://|-----BEGIN|PuTTY-User-Key|(?i:authorization)|[A-Z0-9]{16}|(?<!\S)(?=\S{8})(?=\S*?[A-Za-z])\S*?[0-9_]"
)


def has_secret(text: str) -> bool:
    """Whether a text holds what looks like a password, key or token."""
    return _MAY_HOLD_ONE.search(text) is not None and any(
        pattern.search(text) for pattern in _KNOWN
    )


HIDDEN = "(redacted)"  # instead of a secret in what is kept or logged
_TELLTALE = re.compile("key|secret|token|password|authorization", re.IGNORECASE)
_QUERY_MAX_CHARS = 200


def without_secrets(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A value as it may be logged or kept in a trace: texts that hold a secret are hidden."""
    if isinstance(value, str):
        return HIDDEN if has_secret(value) else value
    if isinstance(value, Mapping):
        return {without_secrets(name): without_secrets(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(inner) for inner in value]
    return value


def redacted(text: str) -> str:
    """A query as it may be kept: hidden if it may hold a secret, cut at 200 (004)."""
    plain = " ".join(text.split())
    if _TELLTALE.search(plain) or has_secret(text):
        return HIDDEN
    return plain if len(plain) <= _QUERY_MAX_CHARS else plain[:_QUERY_MAX_CHARS] + "... (truncated)"
