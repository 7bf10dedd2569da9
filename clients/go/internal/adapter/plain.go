package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/dwar-auth/dwar-go"
)

// plain gives a result under the names of the API, secrets included.
func plain(result any) any {
	switch r := result.(type) {
	case nil:
		return nil
	case dwar.Secret:
		return r.Reveal()
	case time.Time:
		return apiTime(r)
	case *dwar.Claims:
		return map[string]any{
			"iss": r.Issuer, "aud": r.Audience, "sub": r.Subject, "client_id": r.ClientID, "sid": r.SessionID,
			"jti": r.TokenID, "mode": r.Mode, "iat": r.IssuedAt.Unix(), "exp": r.ExpiresAt.Unix(),
		}
	case *dwar.Event:
		return map[string]any{"id": r.ID, "type": r.Type, "timestamp": apiTime(r.Timestamp), "data": eventData(r.Data)}
	}
	value := reflect.Indirect(reflect.ValueOf(result))
	switch value.Kind() {
	case reflect.Struct:
		return fields(value)
	case reflect.Slice:
		items := make([]any, value.Len())
		for i := range items {
			items[i] = plain(value.Index(i).Interface())
		}
		return items
	}
	return value.Interface()
}

// eventData has the fields that this version knows.
func eventData(data dwar.EventData) any {
	if unknown, ok := data.(dwar.UnknownEvent); ok {
		return json.RawMessage(unknown)
	}
	return data
}

func fields(value reflect.Value) map[string]any {
	found := map[string]any{}
	for i := range value.NumField() {
		name, option, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if value.Type().Field(i).Anonymous {
			continue
		}
		if option == "omitempty" && value.Field(i).IsZero() {
			continue
		}
		found[name] = plain(value.Field(i).Interface())
	}
	return found
}

func apiTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// printed contains every printed form of a value.
func printed(value any) string {
	var seen bytes.Buffer
	fmt.Fprintf(&seen, "%v %+v %#v %s %q\n", value, value, value, value, value)
	slog.New(slog.NewTextHandler(&seen, nil)).Info("", "value", value)
	slog.New(slog.NewJSONHandler(&seen, nil)).Info("", "value", value)
	encoded, _ := json.Marshal(value)
	seen.Write(encoded)
	return seen.String()
}
