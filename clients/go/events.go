package dwar

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Event is an event of a project. A later version of the service may add types and fields: ignore those that you do not
// know.
type Event struct {
	// ID is the header webhook-id, the same for every delivery of the event.
	ID   string    `json:"-"`
	Type EventType `json:"type"`
	// Timestamp is when it happened.
	Timestamp time.Time `json:"timestamp"`
	// Data has the type that belongs to the type of the event.
	Data EventData `json:"-"`
	// Raw is the data as JSON, with fields that this version does not know.
	Raw json.RawMessage `json:"data"`
}

// EventOptions of VerifyEvent. Nil or a zero field is the default.
type EventOptions struct {
	// Tolerance is how old or how far ahead a request may be: 5 minutes by default.
	Tolerance time.Duration
	// Now replaces time.Now.
	Now func() time.Time
}

const defaultTolerance = 5 * time.Minute

// VerifyEvent gives the event of a request that the service signed (Standard Webhooks); otherwise it fails with
// ErrWebhookUnauthenticated. body is the raw body, before it is parsed. The secrets are one whsec_…, or both during a
// rotation. options may be nil.
func VerifyEvent(header http.Header, body []byte, secrets []string, options *EventOptions) (*Event, error) {
	tolerance, now := defaultTolerance, time.Now
	if options != nil && options.Tolerance != 0 {
		tolerance = options.Tolerance
	}
	if options != nil && options.Now != nil {
		now = options.Now
	}
	keys, err := eventKeys(secrets)
	if err != nil {
		return nil, err
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	if id == "" || !isNear(timestamp, now(), tolerance) {
		return nil, unauthenticated("it has no id, or its time is too far off")
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	if !isSigned(signed, strings.Fields(header.Get("webhook-signature")), keys) {
		return nil, unauthenticated("no signature is right")
	}
	event := &Event{ID: id}
	if json.Unmarshal(body, event) != nil {
		return nil, unauthenticated("it is not an event as JSON")
	}
	event.Data = eventData(event.Type, event.Raw)
	return event, nil
}

func eventKeys(secrets []string) ([][]byte, error) {
	var keys [][]byte
	for _, secret := range secrets {
		encoded, found := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !found || err != nil || len(key) == 0 {
			return nil, argumentError("a secret of events must be whsec_ and base64")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

var unixSeconds = regexp.MustCompile(`^[0-9]{1,12}$`)

func isNear(timestamp string, now time.Time, tolerance time.Duration) bool {
	if !unixSeconds.MatchString(timestamp) {
		return false
	}
	at, _ := strconv.ParseInt(timestamp, 10, 64)
	return now.Sub(time.Unix(at, 0)).Abs() <= tolerance
}

func isSigned(signed []byte, signatures []string, keys [][]byte) bool {
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, signature := range signatures {
			if hmac.Equal([]byte(signature), expected) {
				return true
			}
		}
	}
	return false
}

func unauthenticated(reason string) error {
	return &Error{Code: ErrWebhookUnauthenticated, Message: "the request is not from the service: " + reason}
}
