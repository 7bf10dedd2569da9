from __future__ import annotations

from typing import Literal, TypeAlias

ServiceCode: TypeAlias = Literal[
    "MISSING_API_KEY",
    "INVALID_API_KEY",
    "RATE_LIMITED",
    "INVALID_PHONE",
    "INVALID_OTP_CODE",
    "OTP_RATE_LIMITED",
    "INSUFFICIENT_BALANCE",
    "SPEND_LIMIT_REACHED",
    "PROOF_REQUIRED",
    "SMS_FAILED",
    "OTP_REQUEST_NOT_FOUND",
    "OTP_NOT_FOUND",
    "INVALID_OTP",
    "VERIFY_RATE_LIMITED",
    "RELAY_DISABLED",
    "INVALID_FIELD",
    "MISSING_ACCESS_TOKEN",
    "MISSING_REFRESH_TOKEN",
    "INVALID_ACCESS_TOKEN",
    "SESSION_EXPIRED",
    "IDENTITY_LOOKUP_DISABLED",
    "IDENTITY_DELETE_DISABLED",
    "IDENTITY_NOT_FOUND",
    "EVENTS_FEED_DISABLED",
    "CURSOR_INVALIDATED",
    "CURSOR_EXPIRED",
    "INVALID_REQUEST",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "PAYLOAD_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "IDEMPOTENCY_CONFLICT",
    "IDEMPOTENCY_KEY_REUSED",
    "INTERNAL_ERROR",
    "SERVICE_UNAVAILABLE",
    "WEBHOOK_UNAUTHENTICATED",
]
"""Every code that the service answers with."""

ErrorCode: TypeAlias = ServiceCode | Literal["NETWORK_ERROR", "UNKNOWN_ERROR", "ARGUMENT"]


class DwarError(Exception):
    """Why a call failed. Programs use `code`; `message` is a sentence for people.

    An error that the client raised itself has no `status`: `INVALID_PHONE` (the text cannot be a number; nothing was
    sent), `NETWORK_ERROR` (no whole answer within the time limit), `INVALID_ACCESS_TOKEN` of a `TokenVerifier`,
    `WEBHOOK_UNAUTHENTICATED` of `verify_event` and `ARGUMENT` of a login without addresses. `UNKNOWN_ERROR` has the
    status of an answer that this version of the client does not understand. `__cause__` is the reason of a
    `NETWORK_ERROR`.
    """

    code: ErrorCode
    message: str
    status: int | None = None
    """HTTP status of the answer."""
    request_id: str | None = None
    """Id of the request in the service's log."""
    retry_after: int | None = None
    """Seconds to wait before the next try."""
    remaining: int | None = None
    """Remaining guesses or sends, from `RateLimit-Remaining`."""
    raw: str | None = None
    """The body of the answer, for `UNKNOWN_ERROR`. It is not printed with the error, since it may contain a token."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        known = {"status": self.status, "request": self.request_id}
        about = ", ".join(f"{name} {value}" for name, value in known.items() if value is not None)
        return f"{self.code}: {self.message}" + (f" ({about})" if about else "")
