// Package login answers the calls by which a page or an app logs a person in: send, verify, refresh and logout. A page
// gets its tokens in cookies that no script can read, an app in the body. clients/login has the contract.
package login

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/dwar-auth/dwar-go"
	"github.com/dwar-auth/dwar-go/internal/refreshkey"
)

// Options of a Handler. Nil or a zero field is the default.
type Options struct {
	// Admit is asked before each send, since the public can ask for messages here: an error refuses, with its own answer
	// if it is a *Refusal. It may read the body. By default everything is admitted.
	Admit func(*http.Request) error
	// ClientAddress is the address of the person, that of the connection by default. Behind a proxy take what your own
	// proxy wrote, since anybody can send a header. Addresses that are not known count as one.
	ClientAddress func(*http.Request) netip.Addr
	// LastLine is what each send names as the last line of an SMS; see dwar.WithLastLine.
	LastLine string
	// OnError is told of each fault that a person sees as LOGIN_UNAVAILABLE. Nothing is logged by default.
	OnError func(*http.Request, error)
}

// Handler answers the four calls below the path where it is mounted. Several goroutines may use it at once.
type Handler struct {
	client   *dwar.Client
	verifier *dwar.Verifier
	keyOf    func(refreshToken string) string
	origins  []string
	options  Options
	sends    *limit
}

// New makes a handler. secret is one of your backend, 32 characters or more, the same in all its processes. origins are
// those of your pages, such as https://shop.example. options may be nil.
func New(
	client *dwar.Client, verifier *dwar.Verifier, secret string, origins []string, options *Options,
) (*Handler, error) {
	h := &Handler{
		client: client, verifier: verifier, keyOf: refreshkey.Of(secret), origins: slices.Clone(origins), sends: newLimit(),
	}
	if h.keyOf == nil {
		return nil, argumentError("the secret of a login must have 32 characters or more")
	}
	if len(origins) == 0 || slices.ContainsFunc(origins, isNoOrigin) {
		return nil, argumentError("origins must be such as https://shop.example")
	}
	if options != nil {
		h.options = *options
	}
	if h.options.ClientAddress == nil {
		h.options.ClientAddress = peer
	}
	return h, nil
}

// Format prints the client alone.
func (h *Handler) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "login.Handler(%v)", h.client) }

var steps = map[string]func(*Handler, *call) error{
	"/send":    (*Handler).send,
	"/verify":  (*Handler).verify,
	"/refresh": (*Handler).refresh,
	"/logout":  (*Handler).logout,
}

// ServeHTTP answers a call whose path has lost the prefix:
//
//	mux.Handle("/login/", http.StripPrefix("/login", handler))
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	step := steps[r.URL.Path]
	if step == nil {
		h.refuse(w, r, errNotFound)
		return
	}
	c, err := h.read(w, r)
	if err == nil {
		err = step(h, c)
	}
	if err != nil {
		h.refuse(w, r, err)
	}
}

// Authenticate gives the claims of the access token of a request: that of Authorization: Bearer, or that of the cookie,
// which counts in a GET, in a HEAD, and where no other site asks. It fails as Verifier.Verify does.
func (h *Handler) Authenticate(r *http.Request) (*dwar.Claims, error) {
	return h.verifier.Verify(r.Context(), h.accessToken(r))
}

// isNoOrigin finds what no browser would send.
func isNoOrigin(text string) bool {
	parsed, err := url.Parse(text)
	return err != nil || parsed.Host == "" || parsed.Scheme+"://"+strings.ToLower(parsed.Host) != text ||
		strings.Contains(text, "*")
}

func peer(r *http.Request) netip.Addr {
	address, _ := netip.ParseAddrPort(r.RemoteAddr)
	return address.Addr()
}

func argumentError(message string) error {
	return &dwar.Error{Code: dwar.ErrArgument, Message: message}
}
