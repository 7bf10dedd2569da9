package dwar

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"net/http"
	"sync"
	"time"
)

// Algorithm of the signature of an access token (RFC 7518, RFC 8037).
type Algorithm string

// Values of the service's setting tokens.algorithm.
const (
	ES256 Algorithm = "ES256"
	EdDSA Algorithm = "EdDSA"
	RS256 Algorithm = "RS256"
)

const (
	cachedFor  = 5 * time.Minute
	askedAgain = time.Minute
	// patience is how long a fetch may run before calls go on with stale keys.
	patience = 500 * time.Millisecond
	// Longest use of a fetched key set: older keys may have been withdrawn.
	tooOld = time.Hour
)

// keySet has the published keys, fetched once, no matter how many callers wait. Keys that this version cannot use are
// left out.
type keySet struct {
	fetch func(context.Context) (*PublicKeys, error)

	mutex          sync.Mutex
	elapsed        func() time.Duration
	keys           map[string]verifyingKey
	fetchedAt      time.Duration
	fetchAgainAt   time.Duration
	unknownAgainAt time.Duration
	fetching       *flight[struct{}]
	// Error of the last fetch; nil if it succeeded.
	failure error
}

type verifyingKey struct {
	algorithm Algorithm
	verifies  func(signature, data []byte) bool
}

// find fails without keys that were fetched within the last hour. It fails for an unknown kid if the last fetch failed,
// since the key may have been published meanwhile; otherwise the key that it returns for an unknown kid has no
// algorithm.
func (s *keySet) find(ctx context.Context, kid string) (verifyingKey, error) {
	fetching, giveUp := s.refreshIfOld(ctx)
	if _, err := fetching.wait(ctx, giveUp); err != nil {
		return verifyingKey{}, err
	}
	if _, err := s.refreshIfUnknown(ctx, kid).wait(ctx, nil); err != nil {
		return verifyingKey{}, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key, known := s.keys[kid]
	if !known && s.failure != nil {
		return verifyingKey{}, s.failure
	}
	return key, nil
}

// refreshIfOld returns also until when a call waits before it uses the cached keys, unless these are too old.
func (s *keySet) refreshIfOld(ctx context.Context) (fetching *flight[struct{}], giveUp <-chan time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case s.areTooOld():
		return s.refresh(ctx), nil
	case s.elapsed() < s.fetchAgainAt:
		return nil, nil
	}
	fetching = s.refresh(ctx)
	return fetching, time.After(patience - time.Since(fetching.since))
}

// refreshIfUnknown makes calls during a fetch wait for it, since the new set may contain the key.
func (s *keySet) refreshIfUnknown(ctx context.Context, kid string) *flight[struct{}] {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, known := s.keys[kid]; known {
		return nil
	}
	if s.elapsed() < s.unknownAgainAt {
		return s.fetching.underway()
	}
	s.unknownAgainAt = s.elapsed() + askedAgain
	return s.refresh(ctx)
}

// areTooOld needs the mutex.
func (s *keySet) areTooOld() bool {
	return s.keys == nil || s.elapsed()-s.fetchedAt >= tooOld
}

// refresh needs the mutex.
func (s *keySet) refresh(ctx context.Context) *flight[struct{}] {
	if s.fetching.underway() == nil {
		s.failure = errNotEnded
		s.fetching = takeOff(ctx, s.replace)
	}
	return s.fetching
}

func (s *keySet) replace(ctx context.Context) (none struct{}, err error) {
	keys, err := s.fetched(ctx)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.failure = err
	if err == nil {
		s.keys, s.fetchedAt = keys, s.elapsed()
		s.fetchAgainAt = s.fetchedAt + cachedFor
		return none, nil
	}
	if s.areTooOld() {
		return none, err
	}
	s.fetchAgainAt = s.elapsed() + askedAgain
	return none, nil
}

// fetched fails on a set without a usable key: the service always publishes one.
func (s *keySet) fetched(ctx context.Context) (map[string]verifyingKey, error) {
	published, err := s.fetch(ctx)
	if err != nil {
		return nil, err
	}
	keys := usable(published.Keys)
	if len(keys) == 0 {
		return nil, &Error{Code: ErrUnknown, Message: "the answer has no key that can be used", Status: http.StatusOK}
	}
	return keys, nil
}

func usable(published []PublicKey) map[string]verifyingKey {
	keys := map[string]verifyingKey{}
	for _, key := range published {
		if verifies := verifierOf(key); verifies != nil && key.Use == "sig" {
			keys[key.Kid] = verifyingKey{Algorithm(key.Alg), verifies}
		}
	}
	return keys
}

// verifierOf is nil for a key that this version does not know or cannot read.
func verifierOf(key PublicKey) func(signature, data []byte) bool {
	switch {
	case key.Alg == string(ES256) && key.Kty == "EC" && key.Crv == "P-256":
		return es256(key)
	case key.Alg == string(EdDSA) && key.Kty == "OKP" && key.Crv == "Ed25519":
		return edDSA(key)
	case key.Alg == string(RS256) && key.Kty == "RSA":
		return rs256(key)
	}
	return nil
}

func es256(key PublicKey) func(signature, data []byte) bool {
	public := &ecdsa.PublicKey{Curve: elliptic.P256(), X: number(key.X), Y: number(key.Y)}
	if _, err := public.ECDH(); err != nil {
		return nil
	}
	return func(signature, data []byte) bool {
		if len(signature) != 64 {
			return false
		}
		digest := sha256.Sum256(data)
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		return ecdsa.Verify(public, digest[:], r, s)
	}
}

func edDSA(key PublicKey) func(signature, data []byte) bool {
	public, err := fromBase64URL(key.X)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil
	}
	return func(signature, data []byte) bool { return ed25519.Verify(public, data, signature) }
}

func rs256(key PublicKey) func(signature, data []byte) bool {
	modulus, exponent := number(key.N), number(key.E)
	// RFC 7518 section 3.3.
	if modulus.BitLen() < 2048 || exponent.BitLen() > 31 {
		return nil
	}
	public := &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}
	return func(signature, data []byte) bool {
		digest := sha256.Sum256(data)
		return rsa.VerifyPKCS1v15(public, crypto.SHA256, digest[:], signature) == nil
	}
}

// number is 0, which no key has, if the text is not a number.
func number(text string) *big.Int {
	bytes, err := fromBase64URL(text)
	if err != nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(bytes)
}

// fromBase64URL reads base64url without padding (RFC 7515 section 2).
func fromBase64URL(text string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(text)
}
