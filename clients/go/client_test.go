package dwar

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
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
	if failure.Error() != "dwar: INVALID_OTP: The code is incorrect. (status 400)" {
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

// The caller that starts a refresh may give up; the others still get its result.
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

func TestAStoredSessionThatCannotBeReadIsExpired(t *testing.T) {
	for _, stored := range []string{
		"", "{}", "null", "[]", "{", `{"access_token":"at_1"}`, `{"access_token":"","refresh_token":""}`,
		`{"access_token":"at_1","refresh_token":"rt"}`, `{"access_token":"at_1","refresh_token":5,"expires_at":1}`,
		`{"access_token":"","refresh_token":"rt","expires_at":1}`, `{"access_token":"at_1","refresh_token":"rt","expires_at":"x"}`,
	} {
		service := answering(t, func(http.ResponseWriter, *http.Request) { t.Errorf("%q was refreshed", stored) })
		store := &memory{pair: []byte(stored)}
		session, err := NewSession(connected(t, service, nil), store, strings.Repeat("s", 32), nil)
		if err != nil {
			t.Fatal(err)
		}
		if token, err := session.AccessToken(context.Background()); !errors.Is(err, ErrSessionExpired) || token != "" {
			t.Errorf("%q: %q, %v", stored, token, err)
		}
	}
}

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

// panicking fails in a refresh, the second time that it is asked: by a panic, or by an end of its goroutine.
type panicking struct {
	pair  []byte
	loads atomic.Int32
	fail  func()
}

func (p *panicking) Load(context.Context) ([]byte, error) {
	if p.loads.Add(1) == 2 {
		p.fail()
	}
	return p.pair, nil
}

func (p *panicking) Save(_ context.Context, pair []byte) error {
	p.pair = pair
	return nil
}

func TestAStoreThatPanicsPanicsInTheCallAndEndsNeitherProgramNorSession(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("the store") }, "exit": runtime.Goexit} {
		service := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"access_token":"at_2","refresh_token":"svc_rt_2","expires_in":900}`)
		})
		store := &panicking{pair: []byte(`{"access_token":"at_1","refresh_token":"svc_rt_1","expires_at":1}`), fail: fail}
		session, err := NewSession(connected(t, service, nil), store, strings.Repeat("s", 32), nil)
		if err != nil {
			t.Fatal(err)
		}
		token, err, panicked := accessToken(session)
		if token != "" || (name == "panic" && panicked != "the store") || (name == "exit" && err == nil) {
			t.Errorf("%s: %q, %v, %v", name, token, err, panicked)
		}
		if token, err, panicked = accessToken(session); token != "at_2" || err != nil || panicked != nil {
			t.Errorf("after %s: %q, %v, %v", name, token, err, panicked)
		}
	}
}

func accessToken(session *Session) (token string, err error, panicked any) {
	defer func() { panicked = recover() }()
	token, err = session.AccessToken(context.Background())
	return token, err, nil
}

func TestConnectionsOfABusyBackendAreUsedAgain(t *testing.T) {
	var opened atomic.Int32
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Millisecond)
		_, _ = io.WriteString(w, `{"id":"i1"}`)
	}))
	service.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	service.Start()
	t.Cleanup(service.Close)
	client := connected(t, service.URL, nil)
	for range 10 {
		var calls sync.WaitGroup
		for range 50 {
			calls.Add(1)
			go func() {
				defer calls.Done()
				if _, err := client.Identity(context.Background(), "i1"); err != nil {
					t.Error(err)
				}
			}()
		}
		calls.Wait()
	}
	if opened.Load() > 100 {
		t.Errorf("%d connections for 500 calls, 50 at once", opened.Load())
	}
	idle := client.transport.client.Transport.(*http.Transport).IdleConnTimeout
	if idle <= 0 || idle >= 30*time.Second {
		t.Errorf("an idle connection is kept for %v", idle)
	}
}

func TestTheCauseOfAnErrorOfTheNetworkStaysWithoutTheAddress(t *testing.T) {
	cause := errors.New("of the transport")
	given := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, cause })}
	client := connected(t, "https://otp.example.com", &Options{HTTPClient: given, Timeout: 100 * time.Millisecond})
	_, err := client.IdentityByPhone(context.Background(), "9876543210")
	if !errors.Is(err, cause) || !errors.Is(err, ErrNetwork) {
		t.Errorf("it failed with %v", err)
	}
	var address *url.Error
	if errors.As(err, &address) {
		t.Errorf("the address is in it: %v", address)
	}
}

func TestAPanicOfTheHTTPClientReachesTheCallAndEndsOneFetchOfKeys(t *testing.T) {
	var requests atomic.Int32
	given := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		if requests.Add(1) == 1 {
			panic("the transport")
		}
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"keys":[]}`))}, nil
	})}
	options := &VerifierOptions{Options: Options{HTTPClient: given}}
	verifier, err := NewVerifier("https://otp.example.com", "project-1", options)
	if err != nil {
		t.Fatal(err)
	}
	// {"alg":"ES256","typ":"at+jwt","kid":"k1"}
	token := "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.e30.AA"
	func() {
		defer func() {
			if recover() != "the transport" {
				t.Error("the panic did not reach the call")
			}
		}()
		_, _ = verifier.Verify(context.Background(), token)
	}()
	if _, err := verifier.Verify(context.Background(), token); !errors.Is(err, ErrUnknown) {
		t.Errorf("after it: %v", err)
	}
}
