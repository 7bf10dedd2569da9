// Checks an access token with go-oidc, which finds the keys by discovery.
//
// usage: go-oidc ISSUER AUDIENCE [ROLE] < token
// Prints one line. Exit status: 0 accepted, 3 refused.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
)

func main() {
	issuer, audience := os.Args[1], os.Args[2]
	var token string
	if _, err := fmt.Scan(&token); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		log.Fatal(err)
	}
	verified, err := provider.Verifier(&oidc.Config{ClientID: audience}).Verify(ctx, token)
	if err != nil {
		refuse(err)
	}
	var claims struct{ Role string }
	if err := verified.Claims(&claims); err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 3 && claims.Role != os.Args[3] {
		refuse("another role")
	}
	fmt.Println("accepted")
}

func refuse(why any) {
	fmt.Println(why)
	os.Exit(3)
}
