package dwar_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The examples run; the README has parts of them, after a program that ../suite/first-login.sh runs.
func TestTheProgramsOfTheREADMEAreThoseOfTheExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var examples []byte
	for _, file := range []string{"example_test.go", "dwartest/dwartest_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples = append(examples, text...)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(blocks) != 8 {
		t.Errorf("%d programs", len(blocks))
	}
	for _, block := range blocks[1:] {
		if !strings.Contains(words(examples), words(block[1])) {
			t.Errorf("no example has\n%s", block[1])
		}
	}
}

func words(program []byte) string { return strings.Join(strings.Fields(string(program)), " ") }
