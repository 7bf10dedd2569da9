package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The suite prints a line for each case; DWAR_BIN is the binary of the service.
func TestTheLoginContract(t *testing.T) {
	backend := filepath.Join(t.TempDir(), "backend")
	run(t, "go", "build", "-o", backend, ".")
	run(t, "node", "../../suite/login.mjs", backend)
}

func run(t *testing.T, program string, words ...string) {
	t.Helper()
	command := exec.Command(program, words...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
}
