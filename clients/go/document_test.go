package dwar

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// What docs/openapi.json says of the API.
type document struct {
	Paths      map[string]map[string]documentOperation
	Components struct{ Schemas map[string]schema }
}

type documentOperation struct {
	OperationID string
	Tags        []string
	RequestBody *content
	Responses   map[string]content
}

type content struct {
	Content map[string]struct{ Schema schema }
}

type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Format     string
	Enum       []any
	Required   []string
	Items      *schema
	Properties map[string]schema
}

// Each operation, called with every field.
var operations = map[string]func(*Client) (any, error){
	"sendOtp": func(c *Client) (any, error) {
		visitor := WithVisitor(Visitor{Address: "203.0.113.9", Trusted: true})
		return c.Send(context.Background(), "9876543210", WithLastLine("a.example"), visitor, WithDevice("dev_1"))
	},
	"relayOtp":     func(c *Client) (any, error) { return c.Relay(context.Background(), "9876543210", "2468", time.Minute) },
	"getOtpStatus": func(c *Client) (any, error) { return c.Status(context.Background(), "ID") },
	"verifyOtp": func(c *Client) (any, error) {
		return c.Verify(context.Background(), "9876543210", "123456", "ID", WithDevice("dev_1"))
	},
	"checkOtp": func(c *Client) (any, error) {
		return c.Check(context.Background(), "9876543210", "123456", "ID", WithDevice("dev_1"))
	},
	"validateSession":     func(c *Client) (any, error) { return c.Validate(context.Background(), "at_1") },
	"refreshSession":      func(c *Client) (any, error) { return c.Refresh(context.Background(), "svc_rt_1") },
	"logoutSession":       func(c *Client) (any, error) { return c.Logout(context.Background(), "at_1") },
	"getIdentity":         func(c *Client) (any, error) { return c.Identity(context.Background(), "ID") },
	"findIdentity":        func(c *Client) (any, error) { return c.IdentityByPhone(context.Background(), "9876543210") },
	"deleteIdentity":      func(c *Client) (any, error) { return c.DeleteIdentity(context.Background(), "ID") },
	"listSandboxMessages": func(c *Client) (any, error) { return c.SandboxMessages(context.Background(), "9876543210") },
	"getPublicKeys":       func(c *Client) (any, error) { return c.PublicKeys(context.Background()) },
}

func readDocument(t *testing.T) document {
	t.Helper()
	text, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	// For callers that cannot vary a header; a client always can, and sends an Idempotency-Key.
	delete(d.Components.Schemas["RelayBody"].Properties, "reference")
	return d
}

func (d document) follow(s schema) schema {
	if s.Ref == "" {
		return s
	}
	return d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
}

func TestCodesAreThoseOfTheDocument(t *testing.T) {
	expected := map[Code]bool{}
	for _, code := range readDocument(t).Components.Schemas["Refused"].Properties["code"].Enum {
		expected[Code(code.(string))] = true
	}
	if !reflect.DeepEqual(serviceCodes, expected) {
		t.Errorf("the codes are %v, not %v", serviceCodes, expected)
	}
}

func TestOperationsAreThoseOfTheDocument(t *testing.T) {
	d := readDocument(t)
	var seen []string
	for path, methods := range d.Paths {
		for method, operation := range methods {
			if !strings.HasPrefix(path, "/v1/") && operation.OperationID != "getPublicKeys" {
				continue
			}
			// Clients lack the operation that proxies call, and the events, which a job reads in a loop around one GET.
			if slices.Contains(operation.Tags, "Proxies") || slices.Contains(operation.Tags, "Events") {
				continue
			}
			seen = append(seen, operation.OperationID)
			t.Run(operation.OperationID, func(t *testing.T) {
				d.checkOperation(t, strings.ToUpper(method), path, operation)
			})
		}
	}
	for id := range operations {
		if !slices.Contains(seen, id) {
			t.Errorf("the document has no %s", id)
		}
	}
}

func (d document) checkOperation(t *testing.T, method, path string, operation documentOperation) {
	call := operations[operation.OperationID]
	if call == nil {
		t.Fatal("the client lacks it")
	}
	answer := d.follow(operation.Responses["200"].Content["application/json"].Schema)
	requests := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		expected := strings.NewReplacer("{otp_id}", "ID", "{id}", "ID").Replace(path)
		if r.Method != method || r.URL.Path != expected {
			t.Errorf("it asked for %s %s, not %s %s", r.Method, r.URL.Path, method, expected)
		}
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		var fields map[string]schema
		if operation.RequestBody != nil {
			fields = d.follow(operation.RequestBody.Content["application/json"].Schema).Properties
		}
		sameNames(t, "body", names(body), names(fields))
		_ = json.NewEncoder(w).Encode(d.sample(answer))
	}))
	defer service.Close()
	client, err := New(service.URL, "svc_test_1", nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := call(client)
	if err != nil || requests != 1 {
		t.Fatalf("%d requests: %v", requests, err)
	}
	d.checkType(t, operation.OperationID, reflect.TypeOf(result).Elem(), answer)
}

// checkType wants exactly the fields of the schema; those that may be null or absent are empty then, and marked omitempty.
func (d document) checkType(t *testing.T, where string, found reflect.Type, s schema) {
	t.Helper()
	fields := map[string]reflect.StructField{}
	nullable := map[string]bool{}
	for i := range found.NumField() {
		if found.Field(i).Anonymous {
			continue // About, which no schema has
		}
		name, option, _ := strings.Cut(found.Field(i).Tag.Get("json"), ",")
		fields[name], nullable[name] = found.Field(i), option == "omitempty"
	}
	sameNames(t, where, names(fields), names(s.Properties))
	for name, property := range s.Properties {
		field := fields[name].Type
		if field == nil {
			continue
		}
		kind, mayBeNull := kindOf(property)
		if mayBeEmpty := mayBeNull || !slices.Contains(s.Required, name); mayBeEmpty != nullable[name] {
			t.Errorf("%s.%s: may be null or absent: %v", where, name, mayBeEmpty)
		}
		if kind == "array" && field.Kind() == reflect.Slice {
			d.checkType(t, where+"."+name, field.Elem(), d.follow(*property.Items))
		} else if field != goType(kind, property.Format, name) {
			t.Errorf("%s.%s is %s, not %s", where, name, field, kind)
		}
	}
}

func kindOf(s schema) (kind string, mayBeNull bool) {
	if one, ok := s.Type.(string); ok {
		return one, false
	}
	all, _ := s.Type.([]any)
	for _, one := range all {
		if one == "null" {
			mayBeNull = true
		} else {
			kind, _ = one.(string)
		}
	}
	return kind, mayBeNull
}

func goType(kind, format, name string) reflect.Type {
	secrets := []string{"access_token", "refresh_token", "code", "text", "device"}
	switch {
	case kind == "integer":
		return reflect.TypeFor[int64]()
	case kind == "boolean":
		return reflect.TypeFor[bool]()
	case format == "date-time":
		return reflect.TypeFor[time.Time]()
	case slices.Contains(secrets, name):
		return reflect.TypeFor[Secret]()
	}
	return reflect.TypeFor[string]()
}

// sample is an object with all fields.
func (d document) sample(s schema) any {
	if s = d.follow(s); s.Properties != nil {
		object := map[string]any{}
		for name, property := range s.Properties {
			object[name] = d.sample(property)
		}
		return object
	}
	switch kind, _ := kindOf(s); {
	case kind == "array":
		return []any{d.sample(*s.Items)}
	case kind == "integer":
		return 1
	case kind == "boolean":
		return true
	case s.Format == "date-time":
		return "2027-01-15T08:10:00.123Z"
	}
	return "text"
}

func names[Key cmp.Ordered, Value any](of map[Key]Value) []Key {
	var found []Key
	for name := range of {
		found = append(found, name)
	}
	slices.Sort(found)
	return found
}

func sameNames(t *testing.T, where string, found, expected []string) {
	t.Helper()
	if !slices.Equal(found, expected) {
		t.Errorf("%s has the fields %v, not %v", where, found, expected)
	}
}

func TestTheTypesOfEventsAreThoseOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[EventType]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z]+\\.[^|]*) \\|").FindAllSubmatch(text, -1) {
		for _, name := range regexp.MustCompile("`([a-z_.]+)`").FindAllSubmatch(row[1], -1) {
			known[EventType(name[1])] = true
		}
	}
	if !slices.Equal(names(known), names(newEventData)) {
		t.Errorf("known are %v, not %v", names(newEventData), names(known))
	}
}
