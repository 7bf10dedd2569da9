// Checks an access token with go-oidc, which finds the keys by discovery or is told where they are.
//
// usage: go-oidc discovery|keys JWKS_URL ISSUER AUDIENCE ALG [ROLE] < token
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
	keys, issuer, audience, algorithm := os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	var token string
	if _, err := fmt.Scan(&token); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	var verifier *oidc.IDTokenVerifier
	if os.Args[1] == "keys" {
		verifier = oidc.NewVerifier(issuer, oidc.NewRemoteKeySet(ctx, keys), &oidc.Config{
			ClientID:             audience,
			SupportedSigningAlgs: []string{algorithm},
		})
	} else {
		provider, err := oidc.NewProvider(ctx, issuer)
		if err != nil {
			log.Fatal(err)
		}
		verifier = provider.Verifier(&oidc.Config{ClientID: audience})
	}
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		refuse(err)
	}
	var claims struct{ Role string }
	if err := verified.Claims(&claims); err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 6 && claims.Role != os.Args[6] {
		refuse("another role")
	}
	fmt.Println("accepted")
}

func refuse(why any) {
	fmt.Println(why)
	os.Exit(3)
}
