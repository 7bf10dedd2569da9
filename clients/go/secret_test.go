package dwar

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

const sesame = "open-sesame"

type holder struct {
	Exported any
	hidden   any
	tokens   Tokens
	secret   Secret
}

// No way of printing shows a secret, or a value that contains one.
func TestNoSecretIsShown(t *testing.T) {
	tokens := Tokens{}
	if err := json.Unmarshal([]byte(`{"access_token":"`+sesame+`","refresh_token":"`+sesame+`"}`), &tokens); err != nil {
		t.Fatal(err)
	}
	client := connected(t, "https://otp.example.com", nil)
	client.apiKey = newSecret(sesame)
	session, err := NewSession(client, nil, strings.Repeat(sesame, 3), nil)
	if err != nil {
		t.Fatal(err)
	}
	message := SandboxText{Text: newSecret(sesame), Code: newSecret(sesame)}
	failure := refusal(&http.Response{StatusCode: 200}, []byte(sesame))
	for _, value := range []any{
		tokens, &tokens, tokens.AccessToken, &tokens.AccessToken, message, []SandboxText{message},
		&SandboxMessages{Messages: []SandboxText{message}}, client, *client, session, failure, *failure, errors.Join(failure),
		holder{Exported: tokens, hidden: tokens, tokens: tokens, secret: tokens.AccessToken},
		map[string]Secret{"k": tokens.AccessToken},
	} {
		if shown := everyWay(value); strings.Contains(shown, sesame) || strings.Contains(shown, "6f70656e") {
			t.Errorf("%T is shown: %q", value, shown)
		}
	}
	if tokens.AccessToken.Reveal() != sesame || failure.Raw() != sesame {
		t.Error("the text is lost")
	}
}

func everyWay(value any) string {
	var shown bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p"} {
		fmt.Fprintf(&shown, verb+"\n", value)
	}
	fmt.Fprintln(&shown, value)
	slog.New(slog.NewTextHandler(&shown, nil)).Info("", "value", value)
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("", "value", value)
	for _, encode := range []func(any) ([]byte, error){json.Marshal, xml.Marshal} {
		encoded, _ := encode(value)
		shown.Write(encoded)
	}
	_ = gob.NewEncoder(&shown).Encode(value)
	return shown.String()
}

func TestTheZeroSecretIsEmpty(t *testing.T) {
	if (Secret{}).Reveal() != "" {
		t.Error("it is not")
	}
}
