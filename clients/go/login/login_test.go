package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/dwar-auth/dwar-go"
	"github.com/dwar-auth/dwar-go/dwartest"
	"github.com/dwar-auth/dwar-go/login"
)

// The suite of the contract, which clients/examples/net-http plays, has all that a page or an app can see. Here is what
// only the program sees.

const (
	origin = "https://shop.example"
	secret = "the secret of this backend, 32 characters"
	phone  = "9876543210"
)

func handler(t *testing.T, url, apiKey, projectID string, options *login.Options) *login.Handler {
	t.Helper()
	client, err := dwar.New(url, apiKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := dwar.NewVerifier(url, projectID, &dwar.VerifierOptions{Mode: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := login.New(client, verifier, secret, []string{origin}, options)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func ask(step, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, step, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", origin)
	return r
}

func play(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAPageLogsInAndIsAuthenticated(t *testing.T) {
	server := dwartest.Start(t)
	h := handler(t, server.URL, server.APIKey, server.ProjectID, nil)

	sent := play(h, ask("/send", fmt.Sprintf(`{"phone":%q}`, phone)))
	verify := ask("/verify", fmt.Sprintf(`{"phone":%q,"code":%q}`, phone, server.LastCode(phone)))
	withCookies(verify, sent)
	verified := play(h, verify)
	if verified.Code != http.StatusOK || strings.Contains(verified.Body.String(), "access_token") {
		t.Fatalf("%d %s", verified.Code, verified.Body)
	}
	page := httptest.NewRequest(http.MethodGet, "/me", nil)
	withCookies(page, verified)
	claims, err := h.Authenticate(page)
	if err != nil || !strings.Contains(verified.Body.String(), claims.Subject) {
		t.Errorf("%v: %v", claims, err)
	}

	_, err = h.Authenticate(httptest.NewRequest(http.MethodGet, "/me", nil))
	if !errors.Is(err, dwar.ErrInvalidAccessToken) {
		t.Errorf("without a token: %v", err)
	}
}

func withCookies(r *http.Request, from *httptest.ResponseRecorder) {
	for _, cookie := range from.Result().Cookies() {
		if cookie.MaxAge > 0 {
			r.AddCookie(cookie)
		}
	}
}

func TestAnAuthorizationOfTheSchemeBearerDecides(t *testing.T) {
	server := dwartest.Start(t)
	h := handler(t, server.URL, server.APIKey, server.ProjectID, nil)
	sent := play(h, ask("/send", fmt.Sprintf(`{"phone":%q}`, phone)))
	verify := ask("/verify", fmt.Sprintf(`{"phone":%q,"code":%q}`, phone, server.LastCode(phone)))
	withCookies(verify, sent)
	verified := play(h, verify)
	var token string
	for _, cookie := range verified.Result().Cookies() {
		if cookie.Name == "__Host-dwar_access" {
			token = cookie.Value
		}
	}
	for authorization, expected := range map[string]struct{ isSomebody, canRenew bool }{
		"Basic dTpw":               {true, true},
		"Bearers " + token:         {true, true},
		"Bearer " + token:          {true, false},
		"bearer   " + token:        {true, false},
		" Bearer \t" + token + " ": {true, false},
		"Bearer":                   {false, false},
		"Bearer ":                  {false, false},
		"Bearer a b":               {false, false},
		"Bearer " + token + " b":   {false, false},
		"Bearer \xff":              {false, false},
	} {
		page := httptest.NewRequest(http.MethodGet, "/me", nil)
		withCookies(page, verified)
		page.Header.Set("Authorization", authorization)
		_, err := h.Authenticate(page)
		if expected.isSomebody != (err == nil) || (err != nil && !errors.Is(err, dwar.ErrInvalidAccessToken)) {
			t.Errorf("%q: %v", authorization, err)
		}
		if h.CanRenew(page) != expected.canRenew {
			t.Errorf("%q can be renewed: %v", authorization, !expected.canRenew)
		}
	}
}

func TestTheMediaTypeIsReadWithoutItsParameters(t *testing.T) {
	url, _ := fake(t, http.StatusOK, sentCode)
	h := handler(t, url, "svc_test_1", "p", nil)
	for kind, status := range map[string]int{
		"application/json; charset":               http.StatusOK,
		"application/json;":                       http.StatusOK,
		"Application/JSON ; charset=a; charset=b": http.StatusOK,
		"application/jsonp":                       http.StatusUnsupportedMediaType,
		"text/plain; application/json":            http.StatusUnsupportedMediaType,
		"":                                        http.StatusUnsupportedMediaType,
	} {
		r := ask("/send", `{"phone":"9876543210"}`)
		r.Header.Set("Content-Type", kind)
		if w := play(h, r); w.Code != status {
			t.Errorf("%q: %d %s", kind, w.Code, w.Body)
		}
	}
}

// fake answers every send, and counts.
func fake(t *testing.T, status int, answer string) (url string, asked *int) {
	t.Helper()
	asked = new(int)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		w.Header().Set("Retry-After", "1000")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(service.Close)
	return service.URL, asked
}

const sentCode = `{"otp_id":"01a1fd34-3aef-7770-a038-fb77decadd73","status":"sent","expires_in":600}`

func TestAdmitIsAskedWithTheBodyBeforeASend(t *testing.T) {
	url, asked := fake(t, http.StatusOK, sentCode)
	h := handler(t, url, "svc_test_1", "p", &login.Options{Admit: func(r *http.Request) error {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"captcha":"right"`) {
			return nil
		}
		return &login.Refusal{Status: http.StatusForbidden, Code: "CAPTCHA_REQUIRED", Message: "Are you a person?"}
	}})
	for range 6 {
		w := play(h, ask("/send", `{"phone":"9876543210"}`))
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "CAPTCHA_REQUIRED") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if w := play(h, ask("/send", `{"phone":"9876543210","captcha":"right"}`)); w.Code != http.StatusOK || *asked != 1 {
		t.Errorf("%d %s, %d sends", w.Code, w.Body, *asked)
	}
}

func TestEachSendNamesTheLastLineOfTheOptions(t *testing.T) {
	for line, expected := range map[string]string{
		"":            `{"phone":"9876543210","visitor":{"address":"192.0.2.1"}}`,
		"FA+9qCX9VSu": `{"last_line":"FA+9qCX9VSu","phone":"9876543210","visitor":{"address":"192.0.2.1"}}`,
	} {
		var body []byte
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ = io.ReadAll(r.Body)
			_, _ = io.WriteString(w, sentCode)
		}))
		defer service.Close()
		h := handler(t, service.URL, "svc_test_1", "p", &login.Options{LastLine: line})
		play(h, ask("/send", `{"phone":"9876543210","last_line":"evil.example"}`))
		if string(body) != expected {
			t.Errorf("%q: %s", line, body)
		}
	}
}

func TestAVisitorIsTrustedOnlyIfTheApplicationSaysThatTheProofIsGood(t *testing.T) {
	var body []byte
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, sentCode)
	}))
	defer service.Close()
	outOfReach := errors.New("the captcha's service is out of reach")
	var asked []string
	h := handler(t, service.URL, "svc_test_1", "p", &login.Options{
		Prove: func(_ *http.Request, proof string) (bool, error) {
			asked = append(asked, proof)
			if proof == "fails" {
				return false, outOfReach
			}
			return proof == "right", nil
		},
	})
	for _, c := range []struct{ proof, peer, visitor string }{
		{`""`, "192.0.2.1:1", `,"visitor":{"address":"192.0.2.1"}}`},
		{`5`, "192.0.2.1:1", `,"visitor":{"address":"192.0.2.1"}}`},
		{`"wrong"`, "192.0.2.1:1", `,"visitor":{"address":"192.0.2.1"}}`},
		{`"right"`, "192.0.2.1:1", `,"visitor":{"address":"192.0.2.1","trusted":true}}`},
		{`"right"`, "[2001:db8:0:1:2::3]:1", `,"visitor":{"address":"2001:db8:0:1::","trusted":true}}`},
		{`"right"`, "@", `,"visitor":{"trusted":true}}`},
		{`"wrong"`, "@", `}`},
	} {
		r := ask("/send", `{"phone":"9876543210","trusted":true,"visitor":{"trusted":true},"proof":`+c.proof+`}`)
		r.RemoteAddr = c.peer
		if w := play(h, r); w.Code != http.StatusOK || string(body) != `{"phone":"9876543210"`+c.visitor {
			t.Errorf("%s: %d %s", c.proof, w.Code, body)
		}
	}
	body = nil
	if w := play(h, ask("/send", `{"phone":"9876543210","proof":"fails"}`)); w.Code != 503 || body != nil {
		t.Errorf("%d %s", w.Code, body)
	}
	if fmt.Sprint(asked) != "[wrong right right right wrong fails]" {
		t.Errorf("asked %v", asked)
	}
}

func TestAFaultGoesToOnErrorAndNotToThePerson(t *testing.T) {
	url, _ := fake(t, http.StatusPaymentRequired, `{"error":"The wallet.","code":"INSUFFICIENT_BALANCE"}`)
	var told error
	h := handler(t, url, "svc_test_1", "p", &login.Options{OnError: func(_ *http.Request, err error) { told = err }})
	w := play(h, ask("/send", `{"phone":"9876543210"}`))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1000" ||
		!strings.Contains(w.Body.String(), "LOGIN_UNAVAILABLE") || strings.Contains(w.Body.String(), "wallet") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if !errors.Is(told, dwar.ErrInsufficientBalance) {
		t.Errorf("told %v", told)
	}
}

func TestASendCountsThoughItsCallerHangsUp(t *testing.T) {
	url, asked := fake(t, http.StatusOK, sentCode)
	h := handler(t, url, "svc_test_1", "p", nil)
	gone, hangUp := context.WithCancel(context.Background())
	hangUp()
	for range 30 {
		play(h, ask("/send", `{"phone":"9876543210"}`).WithContext(gone))
	}
	w := play(h, ask("/send", `{"phone":"9876543210"}`))
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "600" || *asked != 30 {
		t.Errorf("%d %v, %d sends", w.Code, w.Header(), *asked)
	}
}

func TestTheAddressIsThatOfThePeerUnlessTheApplicationSaysOtherwise(t *testing.T) {
	url, _ := fake(t, http.StatusOK, sentCode)
	fromProxy := func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("X-Forwarded-For")) }
	for _, c := range []struct {
		options *login.Options
		sixth   int
	}{
		{&login.Options{SendsPerAddress: 5}, http.StatusTooManyRequests},
		{&login.Options{SendsPerAddress: 5, ClientAddress: fromProxy}, http.StatusOK},
	} {
		h := handler(t, url, "svc_test_1", "p", c.options)
		var w *httptest.ResponseRecorder
		for i := range 6 {
			r := ask("/send", `{"phone":"9876543210"}`)
			r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
			w = play(h, r)
		}
		if w.Code != c.sixth {
			t.Errorf("the sixth send: %d, not %d", w.Code, c.sixth)
		}
	}
}

func TestAnAddressIsOneWithAnyPortOrNone(t *testing.T) {
	url, _ := fake(t, http.StatusOK, sentCode)
	h := handler(t, url, "svc_test_1", "p", &login.Options{SendsPerAddress: 2})
	for i, peer := range []string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.1", "[::ffff:192.0.2.1]:3"} {
		r := ask("/send", `{"phone":"9876543210"}`)
		r.RemoteAddr = peer
		if w := play(h, r); (w.Code == http.StatusOK) != (i < 2) {
			t.Errorf("%s: %d", peer, w.Code)
		}
	}
}

func TestWithoutAnAddressNothingIsCountedAndTheApplicationIsToldOnce(t *testing.T) {
	url, _ := fake(t, http.StatusOK, sentCode)
	var told []error
	h := handler(t, url, "svc_test_1", "p", &login.Options{
		SendsPerAddress: 1,
		OnError:         func(_ *http.Request, err error) { told = append(told, err) },
	})
	for range 3 {
		r := ask("/send", `{"phone":"9876543210"}`)
		r.RemoteAddr = "@"
		if w := play(h, r); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if len(told) != 1 || !errors.Is(told[0], dwar.ErrArgument) || !strings.Contains(told[0].Error(), "ClientAddress") {
		t.Errorf("told %v", told)
	}
}

func TestAHandlerThatCannotBeSafeIsRefused(t *testing.T) {
	client, _ := dwar.New("http://127.0.0.1:1", "svc_test_1", nil)
	verifier, _ := dwar.NewVerifier("http://127.0.0.1:1", "p", nil)
	if _, err := login.New(client, verifier, "short", []string{origin}, nil); !errors.Is(err, dwar.ErrArgument) {
		t.Errorf("a short secret: %v", err)
	}
	negative := &login.Options{SendsPerAddress: -1}
	if _, err := login.New(client, verifier, secret, []string{origin}, negative); !errors.Is(err, dwar.ErrArgument) {
		t.Errorf("a negative number of sends: %v", err)
	}
	if _, err := login.New(client, verifier, secret, nil, nil); !errors.Is(err, dwar.ErrArgument) {
		t.Errorf("without an origin: %v", err)
	}
}

func TestOriginsAreThoseThatBrowsersSend(t *testing.T) {
	table, err := os.ReadFile("../../suite/login/origins.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Origin, Is string }
	if err := json.Unmarshal(table, &cases); err != nil || len(cases) < 26 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	client, _ := dwar.New("http://127.0.0.1:1", "svc_test_1", nil)
	verifier, _ := dwar.NewVerifier("http://127.0.0.1:1", "p", nil)
	for _, c := range cases {
		_, err := login.New(client, verifier, secret, []string{origin, c.Origin}, nil)
		if c.Is == "allowed" && err == nil {
			continue
		}
		if !errors.Is(err, dwar.ErrArgument) || !strings.Contains(err.Error(), `"`+c.Origin+`" `) ||
			!strings.Contains(err.Error(), c.Is) {
			t.Errorf("%q is %s: %v", c.Origin, c.Is, err)
		}
	}
}

func TestNoSecretIsPrinted(t *testing.T) {
	h := handler(t, "http://127.0.0.1:1", "svc_test_1", "p", nil)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if printed := fmt.Sprintf(verb, h); strings.Contains(printed, secret) || strings.Contains(printed, "svc_test") {
			t.Errorf("%s prints %s", verb, printed)
		}
	}
}
