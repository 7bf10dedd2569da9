"""Calls a Dwar service: one-time codes by WhatsApp and SMS, sessions, access tokens and events."""

from ._blocking import Dwar, Session, TokenVerifier
from ._client import AsyncDwar
from ._error import DwarError, ErrorCode, ServiceCode
from ._events import Event, verify_event
from ._keys import Algorithm
from ._session import AsyncSession
from ._types import (
    Channel,
    CheckedCode,
    CodeStatus,
    DeletedIdentity,
    DeliveryTry,
    EndedSession,
    Identity,
    LiveSession,
    PublicKey,
    PublicKeys,
    SandboxMessages,
    SandboxText,
    SendStatus,
    SentCode,
    StoredTokens,
    Tokens,
    request_id,
)
from ._verifier import AccessClaims, AsyncTokenVerifier, TokenType
from ._version import __version__

__all__ = [
    "AccessClaims",
    "Algorithm",
    "AsyncDwar",
    "AsyncSession",
    "AsyncTokenVerifier",
    "Channel",
    "CheckedCode",
    "CodeStatus",
    "DeletedIdentity",
    "DeliveryTry",
    "Dwar",
    "DwarError",
    "EndedSession",
    "ErrorCode",
    "Event",
    "Identity",
    "LiveSession",
    "PublicKey",
    "PublicKeys",
    "SandboxMessages",
    "SandboxText",
    "SendStatus",
    "SentCode",
    "ServiceCode",
    "Session",
    "StoredTokens",
    "TokenType",
    "TokenVerifier",
    "Tokens",
    "__version__",
    "request_id",
    "verify_event",
]
