// Package dwartest starts a Dwar service for tests: everything is in memory, and nothing is sent.
package dwartest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/dwar-auth/dwar-go"
)

// Server is a running service with one project.
type Server struct {
	URL       string
	ProjectID string
	// APIKey is a test key: verify the access tokens with the mode test.
	APIKey string
	Client *dwar.Client

	t testing.TB
}

// Start runs the binary that DWAR_BIN names, otherwise the dwar of PATH, until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	// A signal that ends this process skips t.Cleanup.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	command := exec.CommandContext(ctx, binary(t), "serve")
	command.Cancel = func() error {
		stop()
		self, err := os.FindProcess(os.Getpid())
		return errors.Join(err, command.Process.Kill(), self.Signal(syscall.SIGTERM))
	}
	// It uses neither a dwar.toml nor settings of the environment.
	command.Dir = t.TempDir()
	command.Env = []string{
		"DWAR__DATABASE__URL=memory:", "DWAR__HTTP__ADDRESS=127.0.0.1:0", "DWAR__DASHBOARD__ADDRESS=",
		"DWAR__METRICS__ADDRESS=off",
	}
	output, err := command.StdoutPipe()
	check(t, err)
	check(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		stop()
	})
	s := &Server{t: t}
	for lines := bufio.NewScanner(output); s.APIKey == "" && lines.Scan(); {
		s.read(lines.Text())
	}
	s.Client, err = dwar.New(s.URL, s.APIKey, nil)
	check(t, err)
	return s
}

func binary(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv("DWAR_BIN"), "dwar"))
	check(t, err)
	path, err = filepath.Abs(path)
	check(t, err)
	return path
}

var (
	address = regexp.MustCompile(`Dwar is ready at (\S+)`)
	project = regexp.MustCompile(`Project .*\(([0-9a-f-]{36})\)`)
	testKey = regexp.MustCompile(`Test key +(\S+)`)
)

func (s *Server) read(line string) {
	for pattern, field := range map[*regexp.Regexp]*string{address: &s.URL, project: &s.ProjectID, testKey: &s.APIKey} {
		if found := pattern.FindStringSubmatch(line); found != nil {
			*field = found[1]
		}
	}
}

// LastCode is the code of the newest message to a phone.
func (s *Server) LastCode(phone string) string {
	s.t.Helper()
	sandbox, err := s.Client.SandboxMessages(context.Background(), phone)
	check(s.t, err)
	if len(sandbox.Messages) == 0 {
		s.t.Fatal("no message was sent to this phone")
	}
	return sandbox.Messages[0].Code.Reveal()
}

// Login logs in as the owner of a phone.
func (s *Server) Login(phone string) *dwar.Tokens {
	s.t.Helper()
	sent, err := s.Client.Send(context.Background(), phone)
	check(s.t, err)
	tokens, err := s.Client.Verify(context.Background(), phone, s.LastCode(phone), sent.OTPID)
	check(s.t, err)
	return tokens
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
