package dwar

import "time"

// The answers of the API under its names. A later version of the service may add values to an enumeration.

// About has the members that every answer has besides its own.
type About struct {
	// RequestID is the id of the request in the service's log.
	RequestID string `json:"-"`
}

func (a *About) setRequestID(id string) { a.RequestID = id }

// SentCode is the result of a send or a relay.
type SentCode struct {
	About
	OTPID string `json:"otp_id"`
	// Status is queued, sent, failed or delivered.
	Status string `json:"status"`
	// Channel is whatsapp, sms, sandbox, or empty if none is known yet.
	Channel   string    `json:"channel,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
	// ExpiresIn is in seconds.
	ExpiresIn int64 `json:"expires_in"`
}

// CodeStatus is the status of a send so far.
type CodeStatus struct {
	About
	OTPID string `json:"otp_id"`
	// Status is queued, sent, failed or delivered.
	Status string `json:"status"`
	// Channel is whatsapp, sms, sandbox, or empty if none is known yet.
	Channel   string        `json:"channel,omitempty"`
	CreatedAt time.Time     `json:"created_at"`
	ExpiresAt time.Time     `json:"expires_at"`
	Attempts  []DeliveryTry `json:"attempts"`
}

// DeliveryTry is one attempt at delivering a code.
type DeliveryTry struct {
	// Channel is whatsapp or sms.
	Channel  string `json:"channel"`
	Provider string `json:"provider"`
	// Status is queued, sent, failed or delivered.
	Status string `json:"status"`
	// Reason is why it failed: docs/api.md lists them. Otherwise it is empty.
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// CheckedCode says that the code was right.
type CheckedCode struct {
	About
	Verified bool `json:"verified"`
}

// Tokens are the token pair of a session, with its ids.
type Tokens struct {
	About
	AccessToken  Secret `json:"access_token"`
	RefreshToken Secret `json:"refresh_token"`
	// TokenType is Bearer.
	TokenType string `json:"token_type"`
	// ExpiresIn is the lifetime of the access token in seconds.
	ExpiresIn int64 `json:"expires_in"`
	// RefreshExpiresIn is the lifetime of the refresh token in seconds.
	RefreshExpiresIn int64  `json:"refresh_expires_in"`
	SessionID        string `json:"session_id"`
	// IdentityID is the person: the same for every login with this phone in this project and mode.
	IdentityID string `json:"identity_id"`
	// Device is of Verify, if the guard of the project is on, otherwise empty: keep it where this browser or app logged in,
	// for its next Send.
	Device Secret `json:"device,omitempty"`
}

// LiveSession is the session of an access token that is valid now.
type LiveSession struct {
	About
	Valid      bool      `json:"valid"`
	SessionID  string    `json:"session_id"`
	IdentityID string    `json:"identity_id"`
	IssuedAt   time.Time `json:"issued_at"`
	ExpiresAt  time.Time `json:"expires_at"`
	// ExpiresIn is in seconds.
	ExpiresIn int64 `json:"expires_in"`
}

// EndedSession says that the session is over.
type EndedSession struct {
	About
	Revoked bool `json:"revoked"`
}

// Identity is a person, per project and mode.
type Identity struct {
	About
	ID string `json:"id"`
	// Phone begins with +91.
	Phone          string    `json:"phone"`
	CreatedAt      time.Time `json:"created_at"`
	LastVerifiedAt time.Time `json:"last_verified_at"`
}

// DeletedIdentity says that the person was erased.
type DeletedIdentity struct {
	About
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
	// SessionsRevoked is the number of sessions that were still active.
	SessionsRevoked int64 `json:"sessions_revoked"`
}

// SandboxMessages are newest first.
type SandboxMessages struct {
	About
	Messages []SandboxText `json:"messages"`
}

// SandboxText is a message that the sandbox kept instead of sending it.
type SandboxText struct {
	OTPID string `json:"otp_id"`
	Phone string `json:"phone"`
	// Channel is whatsapp or sms.
	Channel string    `json:"channel"`
	Text    Secret    `json:"text"`
	Code    Secret    `json:"code"`
	At      time.Time `json:"at"`
}

// PublicKeys are the keys that access tokens are signed with.
type PublicKeys struct {
	About
	Keys []PublicKey `json:"keys"`
}

// PublicKey is a JSON Web Key (RFC 7517).
type PublicKey struct {
	// Kty is EC, OKP or RSA.
	Kty string `json:"kty"`
	Use string `json:"use"`
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	Crv string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
}
