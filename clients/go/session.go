package dwar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dwar-auth/dwar-go/internal/refreshkey"
)

// Store keeps the token pair of one session where all processes of a backend find it. The pair is JSON with both
// tokens: encrypt it if others can read the store.
type Store interface {
	// Load gives the pair, or nil if there is none.
	Load(ctx context.Context) ([]byte, error)
	// Save replaces it.
	Save(ctx context.Context, pair []byte) error
}

// SessionOptions of a Session. Nil or a zero field is the default.
type SessionOptions struct {
	// Now replaces time.Now.
	Now func() time.Time
}

// Session is that of one person. It refreshes an expired access token once, no matter how many calls wait, and once
// over all processes that share store and secret. When it is over, calls fail with ErrSessionExpired: log in again.
type Session struct {
	client *Client
	store  Store
	keyOf  func(refreshToken string) string
	now    func() time.Time

	mutex   sync.Mutex
	renewal *flight[string]
}

// An access token with less time left than this is refreshed before it is used.
const earlySeconds = 10

// NewSession makes a session. secret is one of your backend, 32 characters or more, the same in all its processes. It
// makes the Idempotency-Key of a refresh, so that processes that refresh at once get the same pair, but a thief of the
// refresh token does not. options may be nil.
func NewSession(client *Client, store Store, secret string, options *SessionOptions) (*Session, error) {
	keyOf := refreshkey.Of(secret)
	if keyOf == nil {
		return nil, argumentError("the secret of a session must have 32 characters or more")
	}
	now := time.Now
	if options != nil && options.Now != nil {
		now = options.Now
	}
	return &Session{client: client, store: store, keyOf: keyOf, now: now}, nil
}

// Format prints the client alone.
func (s *Session) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "dwar.Session(%v)", s.client) }

// storedPair is the answer of the service and when the access token expires, in seconds since 1970 by the clock of the
// backend. Clients of other languages store the same.
type storedPair struct {
	AccessToken      string `json:"access_token"`
	RefreshToken     string `json:"refresh_token"`
	TokenType        string `json:"token_type"`
	ExpiresIn        int64  `json:"expires_in"`
	RefreshExpiresIn int64  `json:"refresh_expires_in"`
	SessionID        string `json:"session_id"`
	IdentityID       string `json:"identity_id"`
	ExpiresAt        int64  `json:"expires_at"`
}

// Begin stores the tokens of a login.
func (s *Session) Begin(ctx context.Context, tokens *Tokens) error {
	pair, err := json.Marshal(storedPair{
		AccessToken:      tokens.AccessToken.Reveal(),
		RefreshToken:     tokens.RefreshToken.Reveal(),
		TokenType:        tokens.TokenType,
		ExpiresIn:        tokens.ExpiresIn,
		RefreshExpiresIn: tokens.RefreshExpiresIn,
		SessionID:        tokens.SessionID,
		IdentityID:       tokens.IdentityID,
		ExpiresAt:        s.now().Unix() + tokens.ExpiresIn,
	})
	if err != nil {
		return err
	}
	return s.store.Save(ctx, pair)
}

// AccessToken gives an access token that has not expired.
func (s *Session) AccessToken(ctx context.Context) (string, error) {
	pair, err := s.load(ctx)
	if err != nil {
		return "", err
	}
	if s.now().Unix() < pair.ExpiresAt-earlySeconds {
		return pair.AccessToken, nil
	}
	return s.renew(ctx, pair.AccessToken)
}

// Call calls with an access token of the session, and once more with a fresh one if the first is refused:
//
//	live, err := dwar.Call(ctx, session, client.Validate)
func Call[Answer any](
	ctx context.Context, s *Session, use func(ctx context.Context, accessToken string) (Answer, error),
) (Answer, error) {
	var none Answer
	token, err := s.AccessToken(ctx)
	if err != nil {
		return none, err
	}
	answer, err := use(ctx, token)
	if !errors.Is(err, ErrInvalidAccessToken) {
		return answer, err
	}
	if token, err = s.renew(ctx, token); err != nil {
		return none, err
	}
	return use(ctx, token)
}

// renew gives the access token that replaces the stale one.
func (s *Session) renew(ctx context.Context, stale string) (string, error) {
	s.mutex.Lock()
	if s.renewal.underway() == nil {
		s.renewal = takeOff(ctx, func(ctx context.Context) (string, error) { return s.exchange(ctx, stale) })
	}
	renewal := s.renewal
	s.mutex.Unlock()
	return renewal.wait(ctx, nil)
}

// exchange refreshes, unless another process refreshed first and stored a new pair: a used refresh token that is
// presented later ends the session.
func (s *Session) exchange(ctx context.Context, stale string) (string, error) {
	pair, err := s.load(ctx)
	if err != nil || pair.AccessToken != stale {
		return pair.AccessToken, err
	}
	tokens, err := s.client.Refresh(ctx, pair.RefreshToken, WithIdempotencyKey(s.keyOf(pair.RefreshToken)))
	if err == nil {
		return tokens.AccessToken.Reveal(), s.Begin(ctx, tokens)
	}
	if errors.Is(err, ErrSessionExpired) {
		if newer, failure := s.load(ctx); failure != nil || newer.AccessToken != stale {
			return newer.AccessToken, failure
		}
	}
	return "", err
}

func (s *Session) load(ctx context.Context) (storedPair, error) {
	var pair storedPair
	stored, err := s.store.Load(ctx)
	if err != nil {
		return pair, err
	}
	if stored == nil {
		return pair, &Error{Code: ErrSessionExpired, Message: "no session is stored"}
	}
	// The cause is dropped, since it may quote a token.
	err = json.Unmarshal(stored, &pair)
	if err != nil || pair.AccessToken == "" || pair.RefreshToken == "" || pair.ExpiresAt == 0 {
		return storedPair{}, &Error{Code: ErrSessionExpired, Message: "the stored session cannot be read"}
	}
	return pair, nil
}
