package dwar_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/dwar-auth/dwar-go"
)

// The calls as the pages of the service show them. Nobody makes them: they have to compile.
func shown(ctx context.Context, client *dwar.Client, phone, code, otpID, accessToken, refreshToken, id string) {
	_, _ = client.Send(ctx, phone)
	_, _ = client.Verify(ctx, phone, code, otpID)
	_, _ = client.Relay(ctx, phone, code, 5*time.Minute)
	_, _ = client.Check(ctx, phone, code, otpID)
	_, _ = client.Status(ctx, otpID)
	_, _ = client.Validate(ctx, accessToken)
	_, _ = client.Refresh(ctx, refreshToken)
	_, _ = client.Logout(ctx, accessToken)
	_, _ = client.IdentityByPhone(ctx, phone)
	_, _ = client.Identity(ctx, id)
	_, _ = client.DeleteIdentity(ctx, id)
	_, _ = client.SandboxMessages(ctx, phone)
	_, _ = client.PublicKeys(ctx)
}

func TestThePagesShowTheCallsOfThisClient(t *testing.T) {
	_ = shown
	program, err := os.ReadFile("calls_test.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../crates/adapters/dashboard/src/reference/clients.json")
	if err != nil {
		t.Fatal(err)
	}
	var calls map[string]struct{ Go string }
	if err := json.Unmarshal(text, &calls); err != nil {
		t.Fatal(err)
	}
	for operation, call := range calls {
		if !bytes.Contains(program, []byte("_, _ = "+call.Go+"\n")) {
			t.Errorf("%s: no call here is %q", operation, call.Go)
		}
	}
}
