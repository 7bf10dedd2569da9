package dwar_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"time"

	"github.com/dwar-auth/dwar-go"
	"github.com/dwar-auth/dwar-go/login"
)

func Example() {
	defer service(map[string]string{
		"/v1/otp/send":   `{"otp_id":"01a1fd34-3aef-7770-a038-fb77decadd73","status":"sent","expires_in":600}`,
		"/v1/otp/verify": `{"access_token":"at_1","identity_id":"01a1fd34-405d-7726-8dd7-a07883461652"}`,
	})()
	tokens, err := logIn(context.Background(), "9876543210", "987440")
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(tokens.IdentityID, tokens.AccessToken)
	// Output: 01a1fd34-405d-7726-8dd7-a07883461652 [secret]
}

func logIn(ctx context.Context, phone, code string) (*dwar.Tokens, error) {
	client, err := dwar.New(os.Getenv("DWAR_URL"), os.Getenv("DWAR_API_KEY"), nil)
	if err != nil {
		return nil, err
	}
	sent, err := client.Send(ctx, phone)
	if err != nil {
		return nil, err
	}
	return client.Verify(ctx, phone, code, sent.OTPID) // the IdentityID of the answer is the person
}

func ExampleError() {
	defer service(map[string]string{"/v1/otp/verify": `{"code":"INVALID_OTP","error":"The code is incorrect."}`})()
	client, _ := dwar.New(os.Getenv("DWAR_URL"), os.Getenv("DWAR_API_KEY"), nil)
	ctx, phone, code, otpID := context.Background(), "9876543210", "000000", ""

	_, err := client.Verify(ctx, phone, code, otpID)
	var failure *dwar.Error
	switch {
	case errors.Is(err, dwar.ErrInvalidOTP) && errors.As(err, &failure):
		remaining, _ := failure.Remaining()
		fmt.Println(remaining, "guesses are left")
	case errors.Is(err, dwar.ErrOTPNotFound):
		fmt.Println("expired or used: send a new one")
	}

	// Output: 4 guesses are left
}

// Keeps the pair in memory; a backend has it in its database.
type store struct{ pair []byte }

func (s *store) Load(context.Context) ([]byte, error) { return s.pair, nil }

func (s *store) Save(_ context.Context, pair []byte) error {
	s.pair = pair
	return nil
}

func ExampleSession() {
	defer service(map[string]string{
		"/v1/otp/verify":       `{"access_token":"at_1","refresh_token":"svc_rt_1","expires_in":0}`,
		"/v1/session/refresh":  `{"access_token":"at_2","refresh_token":"svc_rt_2","expires_in":900}`,
		"/v1/session/validate": `{"valid":true,"identity_id":"01a1fd34-405d-7726-8dd7-a07883461652"}`,
	})()
	client, _ := dwar.New(os.Getenv("DWAR_URL"), os.Getenv("DWAR_API_KEY"), nil)
	ctx := context.Background()
	tokens, _ := client.Verify(ctx, "9876543210", "987440", "")

	session, err := dwar.NewSession(client, &store{}, os.Getenv("SESSION_SECRET"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := session.Begin(ctx, tokens); err != nil {
		log.Fatal(err)
	}
	live, err := dwar.Call(ctx, session, client.Validate)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(live.IdentityID)
	// Output: 01a1fd34-405d-7726-8dd7-a07883461652
}

func ExampleVerifier() {
	accessToken, keys := signedToken()
	defer service(map[string]string{"/.well-known/jwks.json": keys})()
	ctx := context.Background()

	verifier, err := dwar.NewVerifier(os.Getenv("DWAR_URL"), os.Getenv("DWAR_PROJECT_ID"), nil)
	if err != nil {
		log.Fatal(err)
	}
	claims, err := verifier.Verify(ctx, accessToken)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(claims.Subject)
	// Output: 01a1fd34-405d-7726-8dd7-a07883461652
}

func ExampleVerifyEvent() {
	events := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		event, err := dwar.VerifyEvent(r.Header, body, []string{os.Getenv("DWAR_WEBHOOK_SECRET")}, nil)
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch data := event.Data.(type) {
		case *dwar.OTPEvent:
			fmt.Println(event.ID, event.Type, data.OTPID)
		case *dwar.SessionEvent:
			fmt.Println(event.ID, event.Type, data.SessionID)
		}
	}

	events(httptest.NewRecorder(), signedEvent())
	// Output: msg_1 otp.sent 01a1fd52-d7e2-7a00-a93b-6b5a18a1ae06
}

func Example_login() {
	accessToken, keys := signedToken()
	defer service(map[string]string{"/.well-known/jwks.json": keys})()
	client, _ := dwar.New(os.Getenv("DWAR_URL"), os.Getenv("DWAR_API_KEY"), nil)
	verifier, _ := dwar.NewVerifier(os.Getenv("DWAR_URL"), os.Getenv("DWAR_PROJECT_ID"), nil)
	mux := http.NewServeMux()

	auth, err := login.New(client, verifier, os.Getenv("DWAR_SECRET"), []string{"https://shop.example"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle("/login/", http.StripPrefix("/login", auth))
	mux.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		claims, err := auth.AuthenticateAndRenew(w, r)
		switch {
		case err == nil:
			fmt.Fprint(w, claims.Subject)
		case errors.Is(err, dwar.ErrInvalidAccessToken):
			w.WriteHeader(http.StatusUnauthorized) // nobody is logged in
		default:
			w.WriteHeader(http.StatusServiceUnavailable) // it is unknown who is
		}
	})

	page, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/me", nil)
	request.AddCookie(&http.Cookie{Name: "__Host-dwar_access", Value: accessToken})
	mux.ServeHTTP(page, request)
	fmt.Println(page.Body)
	// Output: 01a1fd34-405d-7726-8dd7-a07883461652
}

// service answers by path, with 400 if the answer has a code, until the function that it gives is called.
func service(answers map[string]string) (stop func()) {
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.Path]
		var refused struct{ Code string }
		if json.Unmarshal([]byte(answer), &refused) == nil && refused.Code != "" {
			w.Header().Set("RateLimit-Remaining", "4")
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, answer)
	}))
	for name, value := range map[string]string{
		"DWAR_URL":        fake.URL,
		"DWAR_API_KEY":    "svc_test_1",
		"DWAR_PROJECT_ID": "project-1",
		"DWAR_SECRET":     "the secret of this backend, 32 characters",
		"SESSION_SECRET":  "the secret of this backend, 32 characters",
	} {
		_ = os.Setenv(name, value)
	}
	return fake.Close
}

// signedToken is an access token that is valid now, with its key set.
func signedToken() (token, keys string) {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	encode := base64.RawURLEncoding.EncodeToString
	now := time.Now().Unix()
	claims, _ := json.Marshal(map[string]any{
		"iss": "dwar", "aud": "project-1", "client_id": "project-1", "mode": "live", "iat": now, "exp": now + 900,
		"sub": "01a1fd34-405d-7726-8dd7-a07883461652", "sid": "s1", "jti": "j1",
	})
	token = encode([]byte(`{"alg":"ES256","typ":"at+jwt","kid":"k1"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(token))
	r, s, _ := ecdsa.Sign(rand.Reader, key, digest[:])
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	public, _ := key.PublicKey.ECDH()
	point := public.Bytes()
	keys = fmt.Sprintf(`{"keys":[{"kty":"EC","use":"sig","alg":"ES256","kid":"k1","crv":"P-256","x":"%s","y":"%s"}]}`,
		encode(point[1:33]), encode(point[33:]))
	return token + "." + encode(signature), keys
}

// signedEvent is a request of the service that is made now.
func signedEvent() *http.Request {
	_ = os.Setenv("DWAR_WEBHOOK_SECRET", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	key, _ := base64.StdEncoding.DecodeString("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	body, now := []byte(`{"type":"otp.sent","data":{"otp_id":"01a1fd52-d7e2-7a00-a93b-6b5a18a1ae06"}}`), strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "msg_1.%s.%s", now, body)
	request := httptest.NewRequest(http.MethodPost, "/dwar-events", bytes.NewReader(body))
	request.Header.Set("webhook-id", "msg_1")
	request.Header.Set("webhook-timestamp", now)
	request.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return request
}
