// Package dwar calls a Dwar service: it sends one-time codes, verifies them, keeps sessions, verifies access tokens
// and checks events. Everything in it may be used by several goroutines at once.
package dwar

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"
)

// Client calls the operations of a service. Its methods fail with an *Error.
//
// Operations that are safe to repeat are sent up to three times within the time limit, after Retry-After or a quarter
// and half a second: reads, Validate, and Send, Relay and Refresh with the same Idempotency-Key. Verify, Check, Logout
// and DeleteIdentity are sent once, since a lost answer may have taken effect.
type Client struct {
	transport *transport
	apiKey    Secret
}

// New makes a client of the service at an address such as https://otp.example.com; plain http only on loopback. The
// API key, svc_live_… or svc_test_…, belongs on a server. options may be nil.
func New(address, apiKey string, options *Options) (*Client, error) {
	if options == nil {
		options = &Options{}
	}
	if !visibleASCII.MatchString(apiKey) {
		return nil, argumentError("the API key must be 1 to 255 visible ASCII characters")
	}
	transport, err := newTransport(address, *options, 30*time.Second)
	if err != nil {
		return nil, err
	}
	return &Client{transport: transport, apiKey: newSecret(apiKey)}, nil
}

// Format prints the address of the service alone.
func (c *Client) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "dwar.Client(%s)", c.transport.url)
}

// A CallOption changes one call.
type CallOption func(*operation)

// WithIdempotencyKey sets the Idempotency-Key of a call, the same for every repetition: 1 to 255 visible ASCII
// characters. Without it each call makes its own and uses it for its own repetitions.
func WithIdempotencyKey(key string) CallOption {
	return func(op *operation) { op.idempotencyKey = key }
}

// WithLastLine names, for Send, the last line of an SMS: a domain or an app hash that the project allows. Without it,
// or with "", the project's own line is used.
func WithLastLine(line string) CallOption {
	return func(op *operation) {
		if line != "" {
			op.body["last_line"] = line
		}
	}
}

// Visitor is the person in front of the page or the app, as your backend sees them.
type Visitor struct {
	// Address is an IP address without a port, empty if it is not known.
	Address string
	// Trusted says that your backend has a proof that this is a person, such as a captcha that it checked itself. Never take
	// it from what the visitor sends.
	Trusted bool
}

// WithVisitor tells, for Send, who asks.
func WithVisitor(visitor Visitor) CallOption {
	return func(op *operation) {
		told := map[string]any{}
		if visitor.Address != "" {
			told["address"] = visitor.Address
		}
		if visitor.Trusted {
			told["trusted"] = true
		}
		if len(told) > 0 {
			op.body["visitor"] = told
		}
	}
}

// WithDevice names, for Send, Verify and Check, the device of an earlier answer of Verify to the same browser or app.
// With "" none is named.
func WithDevice(device string) CallOption {
	return func(op *operation) {
		if device != "" {
			op.body["device"] = device
		}
	}
}

// Send sends a fresh code, which replaces the current one of the phone: ten digits, the first 6 to 9, with or without
// +91.
func (c *Client) Send(ctx context.Context, phone string, options ...CallOption) (*SentCode, error) {
	body := map[string]any{"phone": phone}
	return write(ctx, c, "/v1/otp/send", body, options, func(a *SentCode) bool { return a.OTPID != "" })
}

// Relay sends a code that you make and verify yourself: 4 to 10 digits, valid for 60 to 3600 seconds.
func (c *Client) Relay(
	ctx context.Context, phone, code string, expiresIn time.Duration, options ...CallOption,
) (*SentCode, error) {
	body := map[string]any{"phone": phone, "code": code, "expires_in": int64(expiresIn.Seconds())}
	return write(ctx, c, "/v1/otp/relay", body, options, func(a *SentCode) bool { return a.OTPID != "" })
}

// Status gets the status of a send so far.
func (c *Client) Status(ctx context.Context, otpID string) (*CodeStatus, error) {
	path := "/v1/otp/status/" + url.PathEscape(otpID)
	return read(ctx, c, path, func(a *CodeStatus) bool { return a.OTPID != "" })
}

// Verify checks the code that the person entered. The right code is accepted once and starts a session. With the otpID
// of Send, only the code of that request is accepted; without one (""), the current code of the phone.
func (c *Client) Verify(ctx context.Context, phone, code, otpID string, options ...CallOption) (*Tokens, error) {
	op := guess("/v1/otp/verify", phone, code, otpID, options)
	return call(ctx, c, op, func(a *Tokens) bool { return a.AccessToken.Reveal() != "" })
}

// Check is Verify without a session. The right code is accepted once.
func (c *Client) Check(ctx context.Context, phone, code, otpID string, options ...CallOption) (*CheckedCode, error) {
	op := guess("/v1/otp/check", phone, code, otpID, options)
	return call(ctx, c, op, func(a *CheckedCode) bool { return a.Verified })
}

// Validate asks the service whether an access token is valid now, and fails unless it is.
func (c *Client) Validate(ctx context.Context, accessToken string) (*LiveSession, error) {
	op := post("/v1/session/validate", map[string]any{"access_token": accessToken})
	op.repeatable = true
	return call(ctx, c, op, func(a *LiveSession) bool { return a.Valid })
}

// Refresh exchanges a refresh token for a new pair; both old tokens stop working at once. A Session does this for you,
// once for all calls that wait.
func (c *Client) Refresh(ctx context.Context, refreshToken string, options ...CallOption) (*Tokens, error) {
	body := map[string]any{"refresh_token": refreshToken}
	return write(ctx, c, "/v1/session/refresh", body, options, func(a *Tokens) bool { return a.AccessToken.Reveal() != "" })
}

// Logout ends the session of an access token: both of its tokens stop working at once.
func (c *Client) Logout(ctx context.Context, accessToken string) (*EndedSession, error) {
	op := post("/v1/session/logout", map[string]any{"access_token": accessToken})
	return call(ctx, c, op, func(a *EndedSession) bool { return a.Revoked })
}

// Identity finds a person by id.
func (c *Client) Identity(ctx context.Context, id string) (*Identity, error) {
	return read(ctx, c, "/v1/identity/"+url.PathEscape(id), func(a *Identity) bool { return a.ID != "" })
}

// IdentityByPhone finds a person by phone.
func (c *Client) IdentityByPhone(ctx context.Context, phone string) (*Identity, error) {
	if err := checkPhone(phone); err != nil {
		return nil, err
	}
	path := "/v1/identity?phone=" + url.QueryEscape(phone)
	return read(ctx, c, path, func(a *Identity) bool { return a.ID != "" })
}

// DeleteIdentity erases a person and their sessions.
func (c *Client) DeleteIdentity(ctx context.Context, id string) (*DeletedIdentity, error) {
	op := operation{method: http.MethodDelete, path: "/v1/identity/" + url.PathEscape(id)}
	return call(ctx, c, op, func(a *DeletedIdentity) bool { return a.Deleted })
}

// SandboxMessages returns, with a test key, the messages to this phone that were not sent, newest first, at most 50.
func (c *Client) SandboxMessages(ctx context.Context, phone string) (*SandboxMessages, error) {
	if err := checkPhone(phone); err != nil {
		return nil, err
	}
	path := "/v1/sandbox/messages?phone=" + url.QueryEscape(phone)
	return read(ctx, c, path, func(a *SandboxMessages) bool { return a.Messages != nil })
}

// PublicKeys gives the keys that access tokens are signed with; a Verifier caches them.
func (c *Client) PublicKeys(ctx context.Context) (*PublicKeys, error) {
	return publicKeys(ctx, c.transport)
}

// publicKeys is the only operation without an API key.
func publicKeys(ctx context.Context, t *transport) (*PublicKeys, error) {
	op := operation{method: http.MethodGet, path: "/.well-known/jwks.json", repeatable: true}
	return send(ctx, t, op, func(a *PublicKeys) bool { return a.Keys != nil })
}

func guess(path, phone, code, otpID string, options []CallOption) operation {
	op := post(path, map[string]any{"phone": phone, "code": code})
	if otpID != "" {
		op.body["otp_id"] = otpID
	}
	for _, option := range options {
		option(&op)
	}
	return op
}

func post(path string, body map[string]any) operation {
	return operation{method: http.MethodPost, path: path, body: body}
}

func read[Answer any](ctx context.Context, c *Client, path string, complete func(*Answer) bool) (*Answer, error) {
	return call(ctx, c, operation{method: http.MethodGet, path: path, repeatable: true}, complete)
}

// write may be repeated, under its Idempotency-Key.
func write[Answer any](
	ctx context.Context, c *Client, path string, body map[string]any, options []CallOption, complete func(*Answer) bool,
) (*Answer, error) {
	op := post(path, body)
	op.repeatable = true
	op.idempotencyKey = newUUID()
	for _, option := range options {
		option(&op)
	}
	if !visibleASCII.MatchString(op.idempotencyKey) {
		return nil, argumentError("an idempotency key must be 1 to 255 visible ASCII characters")
	}
	return call(ctx, c, op, complete)
}

func call[Answer any](ctx context.Context, c *Client, op operation, complete func(*Answer) bool) (*Answer, error) {
	if phone, ok := op.body["phone"].(string); ok {
		if err := checkPhone(phone); err != nil {
			return nil, err
		}
	}
	op.apiKey = c.apiKey
	return send(ctx, c.transport, op, complete)
}

var (
	visibleASCII = regexp.MustCompile(`^[!-~]{1,255}$`)
	phoneDigits  = regexp.MustCompile(`^\+?[0-9]+$`)
)

// checkPhone refuses text that cannot be a phone number. Only the service knows which numbers are valid.
func checkPhone(phone string) error {
	if phoneDigits.MatchString(phone) {
		return nil
	}
	return &Error{Code: ErrInvalidPhone, Message: "a phone number is digits alone, with or without +91"}
}

// newUUID makes a random UUID (RFC 9562, version 4).
func newUUID() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
