package dwar

import (
	"fmt"
	"log/slog"
	"time"
)

// Code says why a call failed, and does not change between versions. It is an error, so that errors.Is(err,
// dwar.ErrInvalidOTP) works.
type Code string

func (c Code) Error() string { return string(c) }

var serviceCodes = map[Code]bool{}

// Codes that the service answers with.
var (
	ErrMissingAPIKey          = serviceCode("MISSING_API_KEY")
	ErrInvalidAPIKey          = serviceCode("INVALID_API_KEY")
	ErrRateLimited            = serviceCode("RATE_LIMITED")
	ErrInvalidPhone           = serviceCode("INVALID_PHONE")
	ErrInvalidOTPCode         = serviceCode("INVALID_OTP_CODE")
	ErrOTPRateLimited         = serviceCode("OTP_RATE_LIMITED")
	ErrInsufficientBalance    = serviceCode("INSUFFICIENT_BALANCE")
	ErrSpendLimitReached      = serviceCode("SPEND_LIMIT_REACHED")
	ErrProofRequired          = serviceCode("PROOF_REQUIRED")
	ErrSMSFailed              = serviceCode("SMS_FAILED")
	ErrOTPRequestNotFound     = serviceCode("OTP_REQUEST_NOT_FOUND")
	ErrOTPNotFound            = serviceCode("OTP_NOT_FOUND")
	ErrInvalidOTP             = serviceCode("INVALID_OTP")
	ErrVerifyRateLimited      = serviceCode("VERIFY_RATE_LIMITED")
	ErrRelayDisabled          = serviceCode("RELAY_DISABLED")
	ErrInvalidField           = serviceCode("INVALID_FIELD")
	ErrMissingAccessToken     = serviceCode("MISSING_ACCESS_TOKEN")
	ErrMissingRefreshToken    = serviceCode("MISSING_REFRESH_TOKEN")
	ErrInvalidAccessToken     = serviceCode("INVALID_ACCESS_TOKEN")
	ErrSessionExpired         = serviceCode("SESSION_EXPIRED")
	ErrIdentityLookupDisabled = serviceCode("IDENTITY_LOOKUP_DISABLED")
	ErrIdentityDeleteDisabled = serviceCode("IDENTITY_DELETE_DISABLED")
	ErrIdentityNotFound       = serviceCode("IDENTITY_NOT_FOUND")
	ErrEventsFeedDisabled     = serviceCode("EVENTS_FEED_DISABLED")
	ErrCursorInvalidated      = serviceCode("CURSOR_INVALIDATED")
	ErrCursorExpired          = serviceCode("CURSOR_EXPIRED")
	ErrInvalidRequest         = serviceCode("INVALID_REQUEST")
	ErrNotFound               = serviceCode("NOT_FOUND")
	ErrMethodNotAllowed       = serviceCode("METHOD_NOT_ALLOWED")
	ErrPayloadTooLarge        = serviceCode("PAYLOAD_TOO_LARGE")
	ErrUnsupportedMediaType   = serviceCode("UNSUPPORTED_MEDIA_TYPE")
	ErrIdempotencyConflict    = serviceCode("IDEMPOTENCY_CONFLICT")
	ErrIdempotencyKeyReused   = serviceCode("IDEMPOTENCY_KEY_REUSED")
	ErrInternalError          = serviceCode("INTERNAL_ERROR")
	ErrServiceUnavailable     = serviceCode("SERVICE_UNAVAILABLE")
	ErrWebhookUnauthenticated = serviceCode("WEBHOOK_UNAUTHENTICATED")
)

// Codes of this package.
const (
	// ErrNetwork: no whole answer within the time limit. The error wraps its cause too, such as context.Canceled.
	ErrNetwork Code = "NETWORK_ERROR"
	// ErrUnknown: an answer that this version does not know; Error.Raw has it.
	ErrUnknown Code = "UNKNOWN_ERROR"
	// ErrArgument: a wrong argument, such as an address with plain http; nothing was sent.
	ErrArgument Code = "ARGUMENT"
)

func serviceCode(code Code) Code {
	serviceCodes[code] = true
	return code
}

// Error says why a call failed; errors.As finds it. Only an error of a Store is returned as it is.
//
// Status is 0 if this package raised it: ErrInvalidPhone (the text cannot be a number; nothing was sent), ErrNetwork,
// ErrArgument, ErrInvalidAccessToken of a Verifier, ErrSessionExpired of a Session whose store has no pair that can be
// read, and ErrWebhookUnauthenticated of VerifyEvent.
type Error struct {
	Code Code
	// Message is a sentence for people.
	Message string
	// Status is the HTTP status of the answer.
	Status int
	// RequestID is the id of the request in the service's log.
	RequestID string

	retryAfter, remaining *int
	raw                   Secret
	cause                 error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("dwar: %s: %s", e.Code, e.Message)
	switch {
	case e.Status != 0 && e.RequestID != "":
		return fmt.Sprintf("%s (status %d, request %s)", text, e.Status, e.RequestID)
	case e.Status != 0:
		return fmt.Sprintf("%s (status %d)", text, e.Status)
	}
	return text
}

// GoString is what %#v prints.
func (e *Error) GoString() string { return e.Error() }

// LogValue is what log/slog writes.
func (e *Error) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("code", string(e.Code)),
		slog.String("message", e.Message),
		slog.Int("status", e.Status),
		slog.String("request_id", e.RequestID),
	)
}

// Unwrap gives the code, and the cause of ErrNetwork.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.cause}
}

// RetryAfter is how long to wait before the next try, if the service sent it.
func (e *Error) RetryAfter() (time.Duration, bool) {
	if e.retryAfter == nil {
		return 0, false
	}
	return time.Duration(*e.retryAfter) * time.Second, true
}

// Remaining is the number of remaining guesses or sends, from RateLimit-Remaining, if the service sent it.
func (e *Error) Remaining() (int, bool) {
	if e.remaining == nil {
		return 0, false
	}
	return *e.remaining, true
}

// Raw is the body of the answer for ErrUnknown. It is not printed with the error, since it may contain a token.
func (e *Error) Raw() string { return e.raw.Reveal() }

func argumentError(message string) error { return &Error{Code: ErrArgument, Message: message} }
