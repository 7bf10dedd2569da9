package dwar

import (
	"fmt"
	"io"
)

const hidden = "[secret]"

// Secret is a key, a code or a token. Reveal gives its text; printed, logged or encoded it is "[secret]".
type Secret struct {
	// A pointer, since fmt prints the unexported fields of a struct without asking their methods.
	text *string
	// Forbids ==, which would compare pointers.
	_ [0]func()
}

func newSecret(text string) Secret { return Secret{text: &text} }

// Reveal gives the text, empty for the zero Secret.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

func (s Secret) String() string { return hidden }

// Format hides the text from every verb.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, hidden) }

// MarshalText hides the text from encoding/json, log/slog and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// UnmarshalText reads the text, as it is in answers of the service.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = newSecret(string(text))
	return nil
}
