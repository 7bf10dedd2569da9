"""Calls a Dwar service: one-time codes by WhatsApp and SMS, sessions, access tokens and events."""

from ._blocking import Dwar, Session, TokenVerifier
from ._client import AsyncDwar
from ._error import DwarError, ErrorCode, ServiceCode
from ._event_types import (
    AlertEventData,
    DwarEvent,
    EndpointEventData,
    Event,
    EventData,
    IdentityEventData,
    OtpEventData,
    OtpEventType,
    ProviderEventData,
    SessionEventData,
    WalletEventData,
    WebhookTestData,
)
from ._events import verify_event
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
    "AlertEventData",
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
    "DwarEvent",
    "EndedSession",
    "EndpointEventData",
    "ErrorCode",
    "Event",
    "EventData",
    "Identity",
    "IdentityEventData",
    "LiveSession",
    "OtpEventData",
    "OtpEventType",
    "ProviderEventData",
    "PublicKey",
    "PublicKeys",
    "SandboxMessages",
    "SandboxText",
    "SendStatus",
    "SentCode",
    "ServiceCode",
    "Session",
    "SessionEventData",
    "StoredTokens",
    "TokenType",
    "TokenVerifier",
    "Tokens",
    "WalletEventData",
    "WebhookTestData",
    "__version__",
    "request_id",
    "verify_event",
]
