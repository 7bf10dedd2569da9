"""The events of docs/events.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypedDict, TypeVar

from ._types import Channel

Type = TypeVar("Type")
Data = TypeVar("Data")


class EventData(TypedDict):
    """Members of every event."""

    project_id: str
    mode: Literal["live", "test"]


class OtpEventData(EventData):
    otp_id: str
    channel: Channel | None
    """The channel that carried the code, or was tried last."""
    phone: str | None
    """Masked, unless the endpoint gets full numbers; nothing after the person was erased."""


class SessionEventData(EventData):
    session_id: str
    identity_id: str


class IdentityEventData(EventData):
    identity_id: str
    sessions_revoked: int


class WalletEventData(EventData):
    balance_paise: int
    threshold_paise: int


class SpendEventData(EventData):
    percent: int
    """The part of the limit that is reached: 50, 80 or 100."""
    spent_paise: int
    limit_paise: int


class GuardEventData(EventData):
    subject: Literal["address", "series", "project"]
    """What the level is of."""
    guard: Literal["watch", "enforce"]
    """The mode of the guard."""


class EndpointEventData(EventData):
    webhook_id: str
    failures: int
    failing_since: str
    """RFC 3339 in UTC."""


class ProviderEventData(EventData):
    provider: str
    failed: int
    receipts: int


class AlertEventData(EventData):
    alert: str
    """Kind of the alert, such as `wallet_empty`."""
    severity: Literal["page", "ticket"]
    webhook_id: str | None
    """Only for alerts about an endpoint."""
    since: str
    """RFC 3339 in UTC."""


class WebhookTestData(EventData):
    webhook_id: str


@dataclass(frozen=True)
class Event(Generic[Type, Data]):
    id: str
    """The header `webhook-id`, the same for every delivery of the event."""
    type: Type
    timestamp: str
    """When it happened, RFC 3339 in UTC."""
    data: Data


OtpEventType: TypeAlias = Literal[
    "otp.sent",
    "otp.delivered",
    "otp.failed",
    "otp.verified",
    "otp.under_attack",
    "relay.sent",
    "relay.delivered",
    "relay.failed",
]
"""Types of events about a code; `relay.…` for a code that you made yourself."""

DwarEvent: TypeAlias = (
    Event[OtpEventType, OtpEventData]
    | Event[Literal["session.revoked"], SessionEventData]
    | Event[Literal["identity.deleted"], IdentityEventData]
    | Event[Literal["wallet.low"], WalletEventData]
    | Event[Literal["spend.reached"], SpendEventData]
    | Event[Literal["guard.emptied"], GuardEventData]
    | Event[Literal["endpoint.disabled"], EndpointEventData]
    | Event[Literal["provider.failing"], ProviderEventData]
    | Event[Literal["alert.opened", "alert.resolved"], AlertEventData]
    | Event[Literal["webhook.test"], WebhookTestData]
)
"""An event; `type` decides which `data` it has. A later version of the service may add types and fields: ignore
those that you do not know."""
