// A backend that logs people in by phone: the login contract at /login, and two pages for those who are logged in.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/dwar-auth/dwar-go"
	"github.com/dwar-auth/dwar-go/login"
)

func main() {
	url := os.Getenv("DWAR_URL")
	client, err := dwar.New(url, os.Getenv("DWAR_API_KEY"), nil)
	check(err)
	mode := &dwar.VerifierOptions{Mode: os.Getenv("DWAR_MODE")}
	verifier, err := dwar.NewVerifier(url, os.Getenv("DWAR_PROJECT_ID"), mode)
	check(err)
	auth, err := login.New(client, verifier, os.Getenv("DWAR_SECRET"), []string{os.Getenv("ORIGIN")}, nil)
	check(err)

	mux := http.NewServeMux()
	mux.Handle("/login/", http.StripPrefix("/login", auth))
	mux.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		claims, err := auth.AuthenticateAndRenew(w, r)
		answer(w, claims, err)
	})
	mux.HandleFunc("/claims", func(w http.ResponseWriter, r *http.Request) {
		claims, err := auth.Authenticate(r)
		if err != nil && auth.CanRenew(r) { // fetchWithLogin of the page renews, and asks again
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		}
		answer(w, claims, err)
	})
	check(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}

func answer(w http.ResponseWriter, claims *dwar.Claims, err error) {
	switch {
	case err == nil:
		_ = json.NewEncoder(w).Encode(map[string]string{"identity_id": claims.Subject})
	case errors.Is(err, dwar.ErrInvalidAccessToken):
		w.WriteHeader(http.StatusUnauthorized) // nobody is logged in
	default:
		w.WriteHeader(http.StatusServiceUnavailable) // it is unknown who is
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
