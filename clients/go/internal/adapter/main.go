// The adapter runs this client for the suite; clients/suite/README.md documents the lines that it reads and writes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/dwar-auth/dwar-go"
)

type message struct {
	Do      string    `json:"do"`
	Seconds int64     `json:"seconds"`
	Kind    string    `json:"kind"`
	As      string    `json:"as"`
	With    settings  `json:"with"`
	On      string    `json:"on"`
	Call    string    `json:"call"`
	Args    arguments `json:"args"`
	AtOnce  int       `json:"at_once"`
}

type settings struct {
	URL           string           `json:"url"`
	APIKey        string           `json:"api_key"`
	TimeoutMS     int64            `json:"timeout_ms"`
	Audience      string           `json:"audience"`
	Issuer        string           `json:"issuer"`
	Mode          string           `json:"mode"`
	Algorithms    []dwar.Algorithm `json:"algorithms"`
	TokenTypes    []string         `json:"token_types"`
	LeewaySeconds *int64           `json:"leeway_seconds"`
	Client        string           `json:"client"`
	Secret        string           `json:"secret"`
	Store         string           `json:"store"`
}

type arguments struct {
	Phone          string            `json:"phone"`
	LastLine       string            `json:"last_line"`
	Visitor        dwar.Visitor      `json:"visitor"`
	Device         string            `json:"device"`
	Code           string            `json:"code"`
	OTPID          string            `json:"otp_id"`
	ExpiresIn      int64             `json:"expires_in"`
	AccessToken    string            `json:"access_token"`
	RefreshToken   string            `json:"refresh_token"`
	ID             string            `json:"id"`
	IdempotencyKey *string           `json:"idempotency_key"`
	Tokens         *dwar.Tokens      `json:"tokens"`
	Token          string            `json:"token"`
	Secret         texts             `json:"secret"`
	Headers        map[string]string `json:"headers"`
	Body           string            `json:"body"`
}

// texts is one text or a list.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

type adapter struct {
	objects      map[string]any
	clockSeconds int64
}

func (a *adapter) now() time.Time { return time.Now().Add(time.Duration(a.clockSeconds) * time.Second) }

func (a *adapter) answer(m message) map[string]any {
	switch m.Do {
	case "clock":
		a.clockSeconds = m.Seconds
	case "new":
		made, err := a.make(m.Kind, m.With)
		a.objects[m.As] = made
		return outcome(nil, made, err)
	case "call":
		return a.call(m)
	default:
		*a = adapter{objects: map[string]any{}}
	}
	return map[string]any{}
}

func (a *adapter) make(kind string, with settings) (any, error) {
	options := dwar.Options{Timeout: time.Duration(with.TimeoutMS) * time.Millisecond}
	switch kind {
	case "client":
		return dwar.New(with.URL, with.APIKey, &options)
	case "session":
		client, _ := a.objects[with.Client].(*dwar.Client)
		return dwar.NewSession(client, file(with.Store), with.Secret, &dwar.SessionOptions{Now: a.now})
	}
	more := &dwar.VerifierOptions{
		Options: options, Issuer: with.Issuer, Mode: with.Mode, Algorithms: with.Algorithms,
		TokenTypes: with.TokenTypes, Now: a.now,
	}
	if with.LeewaySeconds != nil {
		more.Leeway = time.Duration(*with.LeewaySeconds) * time.Second
		if more.Leeway == 0 {
			more.Leeway = dwar.NoLeeway
		}
	}
	return dwar.NewVerifier(with.URL, with.Audience, more)
}

func (a *adapter) call(m message) map[string]any {
	object := a.objects[m.On]
	all := make([]map[string]any, max(m.AtOnce, 1))
	var running sync.WaitGroup
	for i := range all {
		running.Add(1)
		go func() {
			defer running.Done()
			result, err := a.perform(object, m.Call, m.Args)
			all[i] = outcome(result, object, err)
		}()
	}
	running.Wait()
	if m.AtOnce > 0 {
		return map[string]any{"all": all, "printed": all[0]["printed"]}
	}
	return all[0]
}

func (a *adapter) perform(object any, call string, args arguments) (any, error) {
	ctx := context.Background()
	switch o := object.(type) {
	case *dwar.Client:
		return onClient(ctx, o, call, args)
	case *dwar.Verifier:
		return o.Verify(ctx, args.Token)
	case *dwar.Session:
		client, _ := a.objects["client"].(*dwar.Client)
		switch call {
		case "begin":
			return nil, o.Begin(ctx, args.Tokens)
		case "accessToken":
			return o.AccessToken(ctx)
		case "validate":
			return dwar.Call(ctx, o, client.Validate)
		case "logout":
			return dwar.Call(ctx, o, client.Logout)
		}
	case nil:
		header := http.Header{}
		for name, value := range args.Headers {
			header.Set(name, value)
		}
		return dwar.VerifyEvent(header, []byte(args.Body), args.Secret, &dwar.EventOptions{Now: a.now})
	}
	return nil, fmt.Errorf("no call %s", call)
}

func onClient(ctx context.Context, client *dwar.Client, call string, args arguments) (any, error) {
	var options []dwar.CallOption
	if args.IdempotencyKey != nil {
		options = append(options, dwar.WithIdempotencyKey(*args.IdempotencyKey))
	}
	device := dwar.WithDevice(args.Device)
	switch call {
	case "sendOtp":
		options = append(options, dwar.WithLastLine(args.LastLine), dwar.WithVisitor(args.Visitor), device)
		return client.Send(ctx, args.Phone, options...)
	case "relayOtp":
		return client.Relay(ctx, args.Phone, args.Code, time.Duration(args.ExpiresIn)*time.Second, options...)
	case "getOtpStatus":
		return client.Status(ctx, args.OTPID)
	case "verifyOtp":
		return client.Verify(ctx, args.Phone, args.Code, args.OTPID, device)
	case "checkOtp":
		return client.Check(ctx, args.Phone, args.Code, args.OTPID, device)
	case "validateSession":
		return client.Validate(ctx, args.AccessToken)
	case "refreshSession":
		return client.Refresh(ctx, args.RefreshToken, options...)
	case "logoutSession":
		return client.Logout(ctx, args.AccessToken)
	case "getIdentity":
		return client.Identity(ctx, args.ID)
	case "findIdentity":
		return client.IdentityByPhone(ctx, args.Phone)
	case "deleteIdentity":
		return client.DeleteIdentity(ctx, args.ID)
	case "listSandboxMessages":
		return client.SandboxMessages(ctx, args.Phone)
	case "getPublicKeys":
		return client.PublicKeys(ctx)
	}
	return nil, fmt.Errorf("no call %s", call)
}

func outcome(result, object any, err error) map[string]any {
	if err != nil {
		return map[string]any{"error": described(err), "printed": printed(err) + printed(object)}
	}
	found := map[string]any{"result": plain(result), "printed": printed(object)}
	if value := reflect.Indirect(reflect.ValueOf(result)); value.Kind() == reflect.Struct {
		if about := value.FieldByName("About"); about.IsValid() {
			found["request_id"] = about.Interface().(dwar.About).RequestID
		}
	}
	if _, isText := result.(string); !isText {
		found["printed"] = printed(result) + printed(object)
	}
	return found
}

func described(err error) map[string]any {
	var failure *dwar.Error
	if !errors.As(err, &failure) {
		return map[string]any{"code": "UNEXPECTED", "message": err.Error()}
	}
	found := map[string]any{"code": failure.Code, "message": failure.Error()}
	if failure.Status != 0 {
		found["status"] = failure.Status
	}
	if failure.RequestID != "" {
		found["request_id"] = failure.RequestID
	}
	if wait, said := failure.RetryAfter(); said {
		found["retry_after"] = int(wait.Seconds())
	}
	if remaining, said := failure.Remaining(); said {
		found["remaining"] = remaining
	}
	if raw := failure.Raw(); raw != "" {
		found["raw"] = raw
	}
	if causes := failure.Unwrap(); len(causes) > 1 {
		found["cause"] = causes[1].Error()
	}
	return found
}

func main() {
	a := &adapter{objects: map[string]any{}}
	lines := json.NewDecoder(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		var m message
		if lines.Decode(&m) != nil || answers.Encode(a.answer(m)) != nil {
			return
		}
	}
}
