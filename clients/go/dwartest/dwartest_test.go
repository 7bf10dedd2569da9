package dwartest_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

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

func TestTheServiceEndsWithTestsThatAreToldToEnd(t *testing.T) {
	if os.Getenv("DWARTEST_WAITS") != "" {
		dwartest.Start(t)
		fmt.Println(dwartest.Start(t).URL)
		time.Sleep(time.Minute)
	}
	tests := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	tests.Env = append(os.Environ(), "DWARTEST_WAITS=1")
	output, err := tests.StdoutPipe()
	if err == nil {
		err = tests.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	lines.Scan()
	health := lines.Text() + "/healthz"
	if _, err := http.Get(health); err != nil {
		t.Fatal(err)
	}
	_ = tests.Process.Signal(syscall.SIGTERM)
	if err := tests.Wait(); err == nil || err.Error() != "signal: terminated" {
		t.Error(err)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, err := http.Get(health); err != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the service is still there")
		}
	}
}
