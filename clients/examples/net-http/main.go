// A backend that logs people in by phone: the login contract at /login, and a page of their own at /me.
package main

import (
	"encoding/json"
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
		claims, err := auth.Authenticate(r)
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"identity_id": claims.Subject})
	})
	check(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
