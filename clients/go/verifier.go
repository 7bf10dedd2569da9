package dwar

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// VerifierOptions of a Verifier. Nil or a zero field is the default.
type VerifierOptions struct {
	// Timeout is for fetching the keys: 5 s by default.
	Options
	// Issuer is the setting tokens.issuer of the service; dwar by default.
	Issuer string
	// Mode is live or test; live by default. Anyone with a test key can get a test token, so it proves nothing.
	Mode string
	// Algorithms is the setting tokens.algorithm of the service; by default only ES256.
	Algorithms []Algorithm
	// TokenTypes is the setting token_type of the project, at+jwt or JWT; by default only at+jwt.
	TokenTypes []string
	// Leeway is how far the clocks of service and verifier may differ: 30 s by default, at most 5 minutes; NoLeeway
	// for none.
	Leeway time.Duration
	// Now replaces time.Now.
	Now func() time.Time
}

// NoLeeway is a leeway of zero.
const NoLeeway time.Duration = -1

const (
	defaultLeeway  = 30 * time.Second
	maxLeeway      = 5 * time.Minute
	maxTokenLength = 4096
)

// Claims of an access token (RFC 9068).
type Claims struct {
	Issuer   string
	Audience string
	// Subject is the person: IdentityID.
	Subject   string
	ClientID  string
	SessionID string
	TokenID   string
	// Mode is live or test.
	Mode      string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Verifier verifies access tokens without a call per token. It does not notice a logout or a refresh until the token
// expires; where that matters, use Client.Validate.
//
// Keep one for the life of the process: it caches the public keys for five minutes, fetches them for an unknown kid at
// most once a minute, and uses the cached keys for up to an hour while the service does not answer within half a
// second.
type Verifier struct {
	audience   string
	issuer     string
	mode       string
	algorithms []Algorithm
	tokenTypes []string
	leeway     time.Duration
	now        func() time.Time
	keys       *keySet
}

// NewVerifier makes a verifier of the tokens of one project, whose id is the audience. options may be nil.
func NewVerifier(address, audience string, options *VerifierOptions) (*Verifier, error) {
	if options == nil {
		options = &VerifierOptions{}
	}
	if audience == "" {
		return nil, argumentError("the audience must be the id of the project")
	}
	if options.Leeway < NoLeeway || options.Leeway > maxLeeway {
		return nil, argumentError("Leeway must be at most 5 minutes")
	}
	transport, err := newTransport(address, options.Options, 5*time.Second)
	if err != nil {
		return nil, err
	}
	v := &Verifier{
		audience:   audience,
		issuer:     cmp.Or(options.Issuer, "dwar"),
		mode:       cmp.Or(options.Mode, "live"),
		algorithms: options.Algorithms,
		tokenTypes: options.TokenTypes,
		leeway:     max(cmp.Or(options.Leeway, defaultLeeway), 0),
		now:        options.Now,
	}
	if v.algorithms == nil {
		v.algorithms = []Algorithm{ES256}
	}
	if v.tokenTypes == nil {
		v.tokenTypes = []string{"at+jwt"}
	}
	if v.now == nil {
		v.now = time.Now
	}
	fetch := func(ctx context.Context) (*PublicKeys, error) { return publicKeys(ctx, transport) }
	v.keys = &keySet{fetch: fetch, elapsed: elapsedTime(v.now)}
	return v, nil
}

// Format prints the audience alone.
func (v *Verifier) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "dwar.Verifier(%s)", v.audience)
}

// Verify gives the claims of a token that is valid now. It fails with ErrInvalidAccessToken and no status for any other
// token, and with ErrNetwork or the refusal of the service if there are no keys yet, or if the kid of the token is
// unknown and the last fetch of the keys failed.
func (v *Verifier) Verify(ctx context.Context, token string) (*Claims, error) {
	parts := strings.Split(token, ".")
	// The base64 decoder would ignore line breaks.
	if len(token) > maxTokenLength || len(parts) != 3 || strings.ContainsAny(token, "\r\n") {
		return nil, invalidToken("not a JWT")
	}
	header, payload := object(parts[0]), object(parts[1])
	signature, err := fromBase64URL(parts[2])
	if header == nil || payload == nil || err != nil {
		return nil, invalidToken("not a JWT")
	}
	algorithm := Algorithm(text(header, "alg"))
	if !slices.Contains(v.algorithms, algorithm) {
		return nil, invalidToken("another algorithm")
	}
	if _, critical := header["crit"]; critical || !v.takesType(text(header, "typ")) {
		return nil, invalidToken("not an access token")
	}
	kid := text(header, "kid")
	if kid == "" {
		return nil, invalidToken("no such key")
	}
	key, err := v.keys.find(ctx, kid)
	if err != nil {
		return nil, err
	}
	if key.algorithm != algorithm {
		return nil, invalidToken("no such key")
	}
	if !key.verifies(signature, []byte(parts[0]+"."+parts[1])) {
		return nil, invalidToken("a wrong signature")
	}
	return v.checked(payload)
}

// takesType ignores case, and accepts the type with or without the prefix application/ (RFC 7515 section 4.1.9).
func (v *Verifier) takesType(typ string) bool {
	return slices.ContainsFunc(v.tokenTypes, func(taken string) bool {
		return strings.EqualFold(typ, taken) || strings.EqualFold(typ, "application/"+taken)
	})
}

func (v *Verifier) checked(payload map[string]any) (*Claims, error) {
	for name, expected := range map[string]string{
		"iss": v.issuer, "aud": v.audience, "client_id": v.audience, "mode": v.mode,
	} {
		if text(payload, name) != expected {
			return nil, invalidToken("another " + name)
		}
	}
	for _, name := range []string{"sub", "sid", "jti"} {
		if text(payload, name) == "" {
			return nil, invalidToken("no " + name)
		}
	}
	issuedAt, hasIssuedAt := seconds(payload, "iat")
	expiresAt, hasExpiresAt := seconds(payload, "exp")
	if !hasExpiresAt || !v.now().Before(expiresAt.Add(v.leeway)) {
		return nil, invalidToken("expired")
	}
	if !hasIssuedAt || issuedAt.After(v.now().Add(v.leeway)) {
		return nil, invalidToken("issued in the future")
	}
	if _, said := payload["nbf"]; said {
		notBefore, ok := seconds(payload, "nbf")
		if !ok || notBefore.After(v.now().Add(v.leeway)) {
			return nil, invalidToken("not valid yet")
		}
	}
	return &Claims{
		Issuer:    v.issuer,
		Audience:  v.audience,
		Subject:   text(payload, "sub"),
		ClientID:  v.audience,
		SessionID: text(payload, "sid"),
		TokenID:   text(payload, "jti"),
		Mode:      v.mode,
		IssuedAt:  issuedAt,
		ExpiresAt: expiresAt,
	}, nil
}

// object is nil if the part is not an object. It is a map, since a struct would also accept names in other capitals.
func object(part string) map[string]any {
	var value map[string]any
	bytes, err := fromBase64URL(part)
	if err != nil || !utf8.Valid(bytes) || json.Unmarshal(bytes, &value) != nil {
		return nil
	}
	return value
}

func text(object map[string]any, name string) string {
	value, _ := object[name].(string)
	return value
}

// seconds reads a NumericDate (RFC 7519 section 2).
func seconds(object map[string]any, name string) (time.Time, bool) {
	value, ok := object[name].(float64)
	if !ok || math.Abs(value) > math.MaxInt32*1000 {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(value)
	return time.Unix(int64(whole), int64(fraction*1e9)), true
}

func invalidToken(reason string) error {
	return &Error{Code: ErrInvalidAccessToken, Message: "the access token is not valid: " + reason}
}
