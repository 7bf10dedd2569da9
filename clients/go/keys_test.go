package dwar

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// {"alg":"ES256","typ":"at+jwt","kid":"b"}, a kid that the sets of these tests lack.
const tokenOfB = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImIifQ.e30.AA"

// The key of RFC 8037 appendix A.2 as the key a.
const keysWithA = `{"keys":[{"kid":"a","kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig",` +
	`"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`

// verifierOver answers fetches of keys by answer, which is told how many came before.
func verifierOver(t *testing.T, now *time.Time, answer func(before int32) (status int, body string)) *Verifier {
	t.Helper()
	var requests atomic.Int32
	given := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		status, body := answer(requests.Add(1) - 1)
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}
	verifier, err := NewVerifier("https://otp.example.com", "project-1", &VerifierOptions{
		Options: Options{HTTPClient: given, Timeout: 100 * time.Millisecond},
		Now:     func() time.Time { return *now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

func TestAnUnknownKidWhoseFetchFailedIsTheErrorOfTheFetch(t *testing.T) {
	status, body, now := http.StatusOK, keysWithA, time.Now()
	verifier := verifierOver(t, &now, func(before int32) (int, string) {
		if before == 0 {
			return http.StatusOK, keysWithA
		}
		return status, body
	})
	status, body = http.StatusBadGateway, "<html>"
	for range 3 {
		_, err := verifier.Verify(context.Background(), tokenOfB)
		var failure *Error
		if !errors.As(err, &failure) || failure.Code != ErrUnknown || failure.Status != http.StatusBadGateway {
			t.Errorf("while the service is out of reach: %v", err)
		}
	}
	status, body, now = http.StatusOK, keysWithA, now.Add(70*time.Second)
	for range 2 {
		if _, err := verifier.Verify(context.Background(), tokenOfB); !errors.Is(err, ErrInvalidAccessToken) {
			t.Errorf("once a set lacks the key: %v", err)
		}
	}
}

func TestAPanicOfTheFetchForAnUnknownKidIsThrownOnce(t *testing.T) {
	now := time.Now()
	verifier := verifierOver(t, &now, func(before int32) (int, string) {
		if before == 1 {
			panic("the transport")
		}
		return http.StatusOK, keysWithA
	})
	verify := func() (err error, panicked any) {
		defer func() { panicked = recover() }()
		_, err = verifier.Verify(context.Background(), tokenOfB)
		return err, nil
	}
	if _, panicked := verify(); panicked != "the transport" {
		t.Errorf("the panic did not reach the call: %v", panicked)
	}
	for range 2 {
		if err, panicked := verify(); !errors.Is(err, ErrNetwork) || panicked != nil {
			t.Errorf("after it: %v, %v", err, panicked)
		}
	}
}

func TestTheContextEndsAVerificationThatWaitsForKeys(t *testing.T) {
	given := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})}
	verifier, err := NewVerifier("https://otp.example.com", "project-1", &VerifierOptions{Options: Options{HTTPClient: given}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = verifier.Verify(ctx, tokenOfB)
	if !errors.Is(err, ErrNetwork) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it fails with %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
