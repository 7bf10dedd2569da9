package login

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/dwar-auth/dwar-go"
)

// Refusal is an answer of a handler or of Options.Admit.
type Refusal struct {
	Status int
	// Code does not change between versions.
	Code string
	// Message is a sentence for people.
	Message string
	// RetryAfter is in whole seconds; none if it is 0.
	RetryAfter time.Duration

	requestID string
}

func (r *Refusal) Error() string { return "login: " + r.Code + ": " + r.Message }

func newRefusal(status int, code dwar.Code, message string) *Refusal {
	return &Refusal{Status: status, Code: string(code), Message: message}
}

// Refusals that Dwar has too have its codes and sentences.
var (
	errNotFound         = newRefusal(404, dwar.ErrNotFound, "There is no such resource.")
	errMethodNotAllowed = newRefusal(405, dwar.ErrMethodNotAllowed, "The resource does not support this method.")
	errOriginRefused    = newRefusal(403, "ORIGIN_REFUSED", "This page may not log in here.")
	errHTTPSRequired    = newRefusal(403, "HTTPS_REQUIRED",
		"Open this page with https to log in: without it the browser does not keep the login.")
	errUnsupportedMediaType = newRefusal(415, dwar.ErrUnsupportedMediaType, "The body must be JSON.")
	errPayloadTooLarge      = newRefusal(413, dwar.ErrPayloadTooLarge, "The body is too large.")
	errInvalidRequest       = newRefusal(400, dwar.ErrInvalidRequest, "The request cannot be read.")
	errInvalidPhone         = newRefusal(422, dwar.ErrInvalidPhone, "The phone number is not a valid Indian mobile number.")
	errOTPNotFound          = newRefusal(400, dwar.ErrOTPNotFound, "There is no active code for this phone number.")
	errTooManySends         = newRefusal(429, "TOO_MANY_SENDS", "Too many codes were requested from this address.")
	errUnavailable          = newRefusal(503, "LOGIN_UNAVAILABLE", "Login is not possible at the moment.")
)

// The refusal of the service, for a request without a refresh token.
var errSessionExpired = &dwar.Error{
	Status: 401, Code: dwar.ErrSessionExpired, Message: "The refresh token is expired or invalid.",
}

var errNobody = &dwar.Error{Code: dwar.ErrInvalidAccessToken, Message: "nobody is logged in"}

// Failures that the person can correct or has to know.
var passedOn = []dwar.Code{
	dwar.ErrInvalidPhone, dwar.ErrInvalidOTPCode, dwar.ErrOTPRateLimited, dwar.ErrProofRequired, dwar.ErrOTPNotFound,
	dwar.ErrInvalidOTP, dwar.ErrVerifyRateLimited, dwar.ErrSessionExpired,
}

func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	refusal := refusalOf(err)
	if refusal.Code == errUnavailable.Code && h.options.OnError != nil {
		h.options.OnError(r, err)
	}
	if refusal.RetryAfter > 0 {
		seconds := (refusal.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	answer := map[string]string{"error": refusal.Message, "code": refusal.Code}
	if refusal.requestID != "" {
		answer["request_id"] = refusal.requestID
	}
	writeJSON(w, refusal.Status, answer)
}

func refusalOf(err error) *Refusal {
	var known *Refusal
	if errors.As(err, &known) {
		return known
	}
	refusal := *errUnavailable
	var failure *dwar.Error
	if !errors.As(err, &failure) {
		return &refusal
	}
	if slices.Contains(passedOn, failure.Code) {
		if failure.Status == 0 {
			return errInvalidPhone // the only one that the client raises itself
		}
		refusal = Refusal{Status: failure.Status, Code: string(failure.Code), Message: failure.Message}
	}
	refusal.RetryAfter, _ = failure.RetryAfter()
	refusal.requestID = failure.RequestID
	return &refusal
}
