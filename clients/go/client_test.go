package dwar

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What is of this language alone; everything else is in the suite.

func TestATimeLimitThatIsNoneIsRefused(t *testing.T) {
	for _, timeout := range []time.Duration{-1, maxTimeout + 1} {
		_, err := New("https://otp.example.com", "svc_test_1", &Options{Timeout: timeout})
		if !errors.Is(err, ErrArgument) {
			t.Errorf("%v is taken: %v", timeout, err)
		}
	}
}

func TestTheHTTPClientThatIsGivenIsUsedAndLeftAsItIs(t *testing.T) {
	var asked *http.Request
	given := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		asked = r
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"id":"i1"}`))}, nil
	})}
	client := connected(t, "https://otp.example.com/", &Options{HTTPClient: given})
	if _, err := client.Identity(context.Background(), "i1"); err != nil {
		t.Fatal(err)
	}
	if asked.URL.String() != "https://otp.example.com/v1/identity/i1" || asked.Header.Get("X-Api-Key") != "svc_test_1" {
		t.Errorf("asked for %s", asked.URL)
	}
	if given.CheckRedirect != nil {
		t.Error("it was changed")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestARefusalIsFoundByCodeAndByType(t *testing.T) {
	service := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit-Remaining", "2")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"code":"INVALID_OTP","error":"The code is incorrect.","request_id":"r-1"}`)
	})
	_, err := connected(t, service, nil).Verify(context.Background(), "9876543210", "123456", "")
	if !errors.Is(err, ErrInvalidOTP) || errors.Is(err, ErrOTPNotFound) {
		t.Errorf("another code: %v", err)
	}
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("another type: %v", err)
	}
	if remaining, said := failure.Remaining(); remaining != 2 || !said {
		t.Errorf("%d guesses are left", remaining)
	}
	if _, said := failure.RetryAfter(); said {
		t.Error("it says when to try again")
	}
	if failure.Error() != "dwar: INVALID_OTP: The code is incorrect." {
		t.Error(failure)
	}
}

func answering(t *testing.T, handler http.HandlerFunc) (url string) {
	t.Helper()
	service := httptest.NewServer(handler)
	t.Cleanup(service.Close)
	return service.URL
}

func TestACallThatIsGivenUpEndsAtOnceAndIsNotRepeated(t *testing.T) {
	var requests atomic.Int32
	asked := make(chan struct{}, 3)
	service := answering(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		asked <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-asked
		cancel()
	}()
	_, err := connected(t, service, nil).Identity(ctx, "i1")
	if !errors.Is(err, ErrNetwork) || !errors.Is(err, context.Canceled) {
		t.Errorf("it failed with %v", err)
	}
	if requests.Load() != 1 {
		t.Errorf("%d requests", requests.Load())
	}
}

func TestACallThatIsGivenUpWhileItWaitsEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	service := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"code":"SERVICE_UNAVAILABLE"}`)
		time.AfterFunc(100*time.Millisecond, cancel)
	})
	started := time.Now()
	_, err := connected(t, service, nil).Identity(ctx, "i1")
	if !errors.Is(err, context.Canceled) || time.Since(started) > 10*time.Second {
		t.Errorf("it failed with %v after %v", err, time.Since(started))
	}
}

func TestTheDeadlineOfTheContextCounts(t *testing.T) {
	service := answering(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := connected(t, service, nil).Identity(ctx, "i1")
	if !errors.Is(err, ErrNetwork) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it failed with %v", err)
	}
}

// Whoever begins a refresh may give up; the others wait for it.
func TestARefreshGoesOnWhenItsFirstCallerGivesUp(t *testing.T) {
	var refreshes atomic.Int32
	asked, goOn := make(chan struct{}, 1), make(chan struct{})
	service := answering(t, func(w http.ResponseWriter, r *http.Request) {
		refreshes.Add(1)
		asked <- struct{}{}
		<-goOn
		_, _ = io.WriteString(w, `{"access_token":"at_2","refresh_token":"svc_rt_2","expires_in":900}`)
	})
	store := &memory{pair: []byte(`{"access_token":"at_1","refresh_token":"svc_rt_1","expires_at":1}`)}
	session, err := NewSession(connected(t, service, nil), store, strings.Repeat("s", 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	first, second := make(chan error), make(chan string)
	go func() {
		_, err := session.AccessToken(ctx)
		first <- err
	}()
	<-asked
	go func() {
		token, _ := session.AccessToken(context.Background())
		second <- token
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first failed with %v", err)
	}
	close(goOn)
	if token := <-second; token != "at_2" || refreshes.Load() != 1 {
		t.Errorf("%s after %d refreshes", token, refreshes.Load())
	}
}

type memory struct {
	mutex sync.Mutex
	pair  []byte
}

func (m *memory) Load(context.Context) ([]byte, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.pair, nil
}

func (m *memory) Save(_ context.Context, pair []byte) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.pair = pair
	return nil
}

func TestWhatAStoreReturnsComesBack(t *testing.T) {
	full := errors.New("the store is full")
	session, err := NewSession(connected(t, "https://otp.example.com", nil), broken{full}, strings.Repeat("s", 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.AccessToken(context.Background()); !errors.Is(err, full) {
		t.Errorf("it failed with %v", err)
	}
	if err := session.Begin(context.Background(), &Tokens{}); !errors.Is(err, full) {
		t.Errorf("it failed with %v", err)
	}
}

type broken struct{ err error }

func (b broken) Load(context.Context) ([]byte, error)   { return nil, b.err }
func (b broken) Save(_ context.Context, _ []byte) error { return b.err }

// base64 of this language passes over line breaks.
func TestATokenWithALineBreakIsRefused(t *testing.T) {
	verifier, err := NewVerifier("https://otp.example.com", "project-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	// {"alg":"ES256","typ":"at+jwt"}
	_, err = verifier.Verify(context.Background(), "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.AA\n")
	if !errors.Is(err, ErrInvalidAccessToken) || !strings.HasSuffix(err.Error(), "not a JWT") {
		t.Errorf("it failed with %v", err)
	}
}
