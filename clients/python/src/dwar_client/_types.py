"""The answers of the API under their names in docs/openapi.json.

Times are RFC 3339 in UTC, ids UUIDs, lifetimes seconds. A later version of the service may add values to an
enumeration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict

SendStatus: TypeAlias = Literal["queued", "sent", "failed", "delivered"]
Channel: TypeAlias = Literal["whatsapp", "sms"]


class SentCode(TypedDict):
    otp_id: str
    status: SendStatus
    channel: Channel | Literal["sandbox"] | None
    expires_at: str
    expires_in: int


class DeliveryTry(TypedDict):
    channel: Channel
    provider: str
    status: SendStatus
    reason: (
        Literal[
            "not_on_channel",
            "rejected_number",
            "blocked",
            "template_rejected",
            "provider_auth",
            "provider_throttled",
            "provider_refused",
            "provider_unavailable",
            "timeout",
            "unknown",
        ]
        | None
    )
    at: str


class CodeStatus(TypedDict):
    otp_id: str
    status: SendStatus
    channel: Channel | Literal["sandbox"] | None
    created_at: str
    expires_at: str
    attempts: list[DeliveryTry]


class CheckedCode(TypedDict):
    verified: Literal[True]


class Visitor(TypedDict, total=False):
    """The person in front of the page or the app, as your backend sees them."""

    address: str | None
    """IP address, without a port."""
    trusted: bool | None
    """Whether your backend has a proof that this is a person, such as a captcha that it checked itself. Never take this
    from what the visitor sends."""


class _TokenPair(TypedDict):
    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    refresh_expires_in: int
    session_id: str
    identity_id: str


class Tokens(_TokenPair, total=False):
    device: str
    """Of `verify`, if the guard of the project is on: keep it where this browser or app logged in, for its next
    `send`."""


class StoredTokens(_TokenPair):
    """A token pair as your store keeps it. `json.dumps` writes all of it, so encrypt it if others can read the
    store."""

    expires_at: int
    """When the access token expires, in seconds since 1970 by the clock of your backend."""


class LiveSession(TypedDict):
    valid: Literal[True]
    session_id: str
    identity_id: str
    issued_at: str
    expires_at: str
    expires_in: int


class EndedSession(TypedDict):
    revoked: Literal[True]


class Identity(TypedDict):
    id: str
    phone: str
    created_at: str
    last_verified_at: str


class DeletedIdentity(TypedDict):
    id: str
    deleted: Literal[True]
    sessions_revoked: int


class SandboxText(TypedDict):
    otp_id: str
    phone: str
    channel: Channel
    text: str
    code: str
    at: str


class SandboxMessages(TypedDict):
    messages: list[SandboxText]


class _PublicKeyUse(TypedDict):
    kty: Literal["EC", "OKP", "RSA"]
    use: Literal["sig"]
    alg: str
    kid: str


class PublicKey(_PublicKeyUse, total=False):
    """A public key as a JSON Web Key (RFC 7517)."""

    crv: str | None
    x: str | None
    y: str | None
    n: str | None
    e: str | None


class PublicKeys(TypedDict):
    keys: list[PublicKey]


_SECRETS = ("access_token", "refresh_token", "code", "text", "device")


class Answer(dict[str, Any]):
    """An object of an answer. Its secrets are left out when it is printed; `json.dumps` writes all of it."""

    request_id: str | None = None

    def __repr__(self) -> str:
        return repr({name: "[secret]" if name in _SECRETS else value for name, value in self.items()})


def request_id(answer: Mapping[str, Any]) -> str | None:
    """Id of this request in the service's log."""
    return answer.request_id if isinstance(answer, Answer) else None
