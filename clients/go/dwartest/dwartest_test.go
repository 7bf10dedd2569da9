package dwartest_test

import (
	"context"
	"testing"

	"github.com/dwar-auth/dwar-go"
	"github.com/dwar-auth/dwar-go/dwartest"
)

func TestAPhoneIsLoggedIn(t *testing.T) {
	server := dwartest.Start(t)
	tokens := server.Login("9876543210")
	verifier, err := dwar.NewVerifier(server.URL, server.ProjectID, &dwar.VerifierOptions{Mode: "test"})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := verifier.Verify(context.Background(), tokens.AccessToken.Reveal())
	if err != nil || claims.Subject != tokens.IdentityID {
		t.Errorf("%v: %v", claims, err)
	}
}

func TestEachServerIsOfItsOwn(t *testing.T) {
	first, second := dwartest.Start(t), dwartest.Start(t)
	if first.URL == second.URL || first.ProjectID == second.ProjectID {
		t.Error("two tests share a service")
	}
}
