package dwar_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The suite prints a line for each case; DWAR_BIN is the binary of the service.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite takes a minute")
	}
	adapter := filepath.Join(t.TempDir(), "adapter")
	run(t, "go", "build", "-o", adapter, "./internal/adapter")
	run(t, "node", "../suite/run.mjs", adapter)
}

func run(t *testing.T, program string, words ...string) {
	t.Helper()
	command := exec.Command(program, words...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
}
