// Package login answers the calls by which a page or an app logs a person in: send, verify, refresh and logout. A page
// gets its tokens in cookies that no script can read, an app in the body. clients/login has the contract.
package login

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"github.com/dwar-auth/dwar-go"
	"github.com/dwar-auth/dwar-go/internal/refreshkey"
)

// Options of a Handler. Nil or a zero field is the default.
type Options struct {
	// Admit is asked before each send, since the public can ask for messages here: an error refuses, with its own answer
	// if it is a *Refusal. It may read the body. By default everything is admitted.
	Admit func(*http.Request) error
	// Prove says whether the proof that a page or an app sent with a send is good, such as the answer to a captcha: ask its
	// vendor. Only true makes the visitor trusted; an error refuses the send as one of Admit does.
	Prove func(r *http.Request, proof string) (bool, error)
	// ClientAddress returns the IP address of the client, or the zero Addr; by default the address of the connection.
	// Behind a proxy the connection is the proxy's, so that all people would share one limit: take what your own proxy
	// writes, the last entry of X-Forwarded-For, never the first, which any client can forge. Without an address a send is
	// not counted by address, and OnError is called once.
	ClientAddress func(*http.Request) netip.Addr
	// SendsPerAddress is how many codes one client address may request in ten minutes, 30 by default. Raise it for offices
	// and colleges.
	SendsPerAddress int
	// LastLine is what each send names as the last line of an SMS; see dwar.WithLastLine.
	LastLine string
	// OnError is called for each failure that the person sees as LOGIN_UNAVAILABLE, and once if no address is known.
	// Nothing is logged by default.
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

	tellOfAddress sync.Once
}

// New makes a handler. secret is one of your backend, 32 characters or more, the same in all its processes. origins are
// exactly those of your pages: https://shop.example, or http://localhost:3000 on your own machine. options may be nil.
func New(
	client *dwar.Client, verifier *dwar.Verifier, secret string, origins []string, options *Options,
) (*Handler, error) {
	h := &Handler{
		client: client, verifier: verifier, keyOf: refreshkey.Of(secret), origins: slices.Clone(origins),
	}
	if h.keyOf == nil {
		return nil, argumentError("the secret of a login must have 32 characters or more")
	}
	if err := checkOrigins(origins); err != nil {
		return nil, err
	}
	if options != nil {
		h.options = *options
	}
	if h.options.SendsPerAddress < 0 {
		return nil, argumentError("SendsPerAddress must not be negative")
	}
	h.sends = newLimit(cmp.Or(h.options.SendsPerAddress, defaultSends))
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
// which counts in a GET, in a HEAD, and where no other site asks. It fails as Verifier.Verify does: nobody is logged in if
// the error is dwar.ErrInvalidAccessToken, and unknown for any other. It renews nothing; CanRenew says whether that may help.
func (h *Handler) Authenticate(r *http.Request) (*dwar.Claims, error) {
	return h.verifier.Verify(r.Context(), h.accessToken(r))
}

// AuthenticateAndRenew is Authenticate for an answer whose header is not written yet: a session whose access token has
// ended is renewed by cookies of this answer. It fails also as Client.Refresh does, but for dwar.ErrSessionExpired: nobody is
// logged in then, and the cookies are cleared.
func (h *Handler) AuthenticateAndRenew(w http.ResponseWriter, r *http.Request) (*dwar.Claims, error) {
	claims, err := h.Authenticate(r)
	if !errors.Is(err, dwar.ErrInvalidAccessToken) || !h.CanRenew(r) {
		return claims, err
	}
	return h.renewSession(&call{w: w, r: r, fromPage: true})
}

// CanRenew says whether a renewal may help after Authenticate found no login.
func (h *Handler) CanRenew(r *http.Request) bool {
	_, ok := bearer(r)
	return !ok && h.countingCookie(r, refreshCookie) != ""
}

// peer takes also a RemoteAddr without a port, as a middleware may write it.
func peer(r *http.Request) netip.Addr {
	if withPort, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return withPort.Addr()
	}
	address, _ := netip.ParseAddr(r.RemoteAddr)
	return address
}

func argumentError(message string) error {
	return &dwar.Error{Code: dwar.ErrArgument, Message: message}
}
