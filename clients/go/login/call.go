package login

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/dwar-auth/dwar-go"
)

const maxBody = 16 << 10

const (
	otpCookie     = "__Host-dwar_otp"
	accessCookie  = "__Host-dwar_access"
	refreshCookie = "__Host-dwar_refresh"
	deviceCookie  = "__Host-dwar_device"
)

const deviceSeconds = 180 * 24 * 60 * 60

// isDevice admits a text of bounded size that a cookie holds as it is.
var isDevice = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{1,512}$`).MatchString

// call is a request that was read, and its answer.
type call struct {
	w http.ResponseWriter
	r *http.Request
	// The cookies of a page count, the body of an app.
	fromPage bool
	body     map[string]any
	// An app wants the tokens in the body.
	tokensInBody bool
}

func (h *Handler) read(w http.ResponseWriter, r *http.Request) (*call, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, errMethodNotAllowed
	}
	fromPage, ours := h.origin(r)
	if !ours {
		return nil, foreign(r)
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, errUnsupportedMediaType
	}
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, errPayloadTooLarge
	}
	c := &call{w: w, r: r, fromPage: fromPage}
	if err != nil || json.Unmarshal(content, &c.body) != nil || c.body == nil {
		return nil, errInvalidRequest
	}
	if c.tokensInBody = c.text("tokens") == "body"; c.tokensInBody && fromPage {
		return nil, errOriginRefused // no script may see a token
	}
	r.Body = io.NopCloser(bytes.NewReader(content)) // for Admit
	return c, nil
}

// origin says whether a browser sent the request, by its headers, and whether the request is allowed: from a browser
// only for one of our pages, from any other client always.
func (h *Handler) origin(r *http.Request) (fromPage, ours bool) {
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		return true, len(origins) == 1 && slices.Contains(h.origins, origins[0])
	}
	if sites := r.Header.Values("Sec-Fetch-Site"); len(sites) > 0 {
		return true, len(sites) == 1 && sites[0] == "same-origin"
	}
	return false, true
}

// foreign refuses a page of another site. The message to an own page that was opened without https says why it cannot
// log in.
func foreign(r *http.Request) *Refusal {
	if r.Header.Get("Origin") == "http://"+r.Host && !isLoopback(r.Host) {
		return errHTTPSRequired
	}
	return errOriginRefused
}

// context is not cancelled when the client disconnects: the service carries out the call all the same, and it has to be
// counted.
func (c *call) context() context.Context { return context.WithoutCancel(c.r.Context()) }

// text is a field of the body, or empty.
func (c *call) text(name string) string {
	text, _ := c.body[name].(string)
	return text
}

// given is a cookie of a page, or a field of an app.
func (c *call) given(cookie, field string) string {
	if c.fromPage {
		return cookieOf(c.r, cookie)
	}
	return c.text(field)
}

// device is of an earlier login of this browser or app, or empty.
func (c *call) device() string {
	if device := c.given(deviceCookie, "device"); isDevice(device) {
		return device
	}
	return ""
}

// keep sets a cookie for so many seconds; 0 clears it.
func (c *call) keep(name, value string, seconds int64) {
	cookie := &http.Cookie{
		Name: name, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(seconds),
	}
	if seconds <= 0 {
		cookie.MaxAge = -1
	}
	// The token cookies are Lax, so that a person who follows a link into the site is logged in. Only the form needs the
	// others.
	if name == accessCookie || name == refreshCookie {
		cookie.SameSite = http.SameSiteLaxMode
	}
	http.SetCookie(c.w, cookie)
}

func (c *call) keepTokens(tokens *dwar.Tokens) {
	c.keep(accessCookie, tokens.AccessToken.Reveal(), tokens.ExpiresIn)
	c.keep(refreshCookie, tokens.RefreshToken.Reveal(), tokens.RefreshExpiresIn)
}

func (c *call) endSession() {
	c.keep(accessCookie, "", 0)
	c.keep(refreshCookie, "", 0)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may have disconnected.
	_ = json.NewEncoder(w).Encode(body)
}

func (h *Handler) accessToken(r *http.Request) string {
	if token, ok := bearer(r); ok {
		return token
	}
	return h.countingCookie(r, accessCookie)
}

// bearer says also whether the scheme is Bearer, even without a token (RFC 6750 section 2.1).
func bearer(r *http.Request) (token string, is bool) {
	words := strings.Fields(r.Header.Get("Authorization"))
	if len(words) == 0 || !strings.EqualFold(words[0], "Bearer") {
		return "", false
	}
	return strings.Join(words[1:], " "), true
}

// countingCookie is empty if another site's page may change something with the request.
func (h *Handler) countingCookie(r *http.Request, name string) string {
	isSafe := r.Method == http.MethodGet || r.Method == http.MethodHead
	if _, ours := h.origin(r); !ours && !isSafe {
		return ""
	}
	return cookieOf(r, name)
}

func cookieOf(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}
