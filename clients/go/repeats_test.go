package dwar

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Calls that are sent once, as the README promises.
var sentOnce = map[string]func(context.Context, *Client) error{
	"verify": func(ctx context.Context, c *Client) error {
		_, err := c.Verify(ctx, "9876543210", "123456", "")
		return err
	},
	"check": func(ctx context.Context, c *Client) error {
		_, err := c.Check(ctx, "9876543210", "123456", "")
		return err
	},
	"logout": func(ctx context.Context, c *Client) error {
		_, err := c.Logout(ctx, "at_1")
		return err
	},
	"delete": func(ctx context.Context, c *Client) error {
		_, err := c.DeleteIdentity(ctx, "i1")
		return err
	},
}

// cuttingService answers GET, so that its connection is used again, and cuts the connection of anything else that it
// has read, which it counts.
func cuttingService(t *testing.T) (url string, cut *atomic.Int32) {
	cut = new(atomic.Int32)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"id":"i1"}`)
			return
		}
		_, _ = io.ReadAll(r.Body)
		cut.Add(1)
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = connection.Close()
	}))
	t.Cleanup(service.Close)
	return service.URL, cut
}

// resettingService speaks HTTP/2 and resets each stream that it has read with PROTOCOL_ERROR. It counts them.
func resettingService(t *testing.T) (url string, client *http.Client, reset *atomic.Int32) {
	reset = new(atomic.Int32)
	service := httptest.NewUnstartedServer(nil)
	service.TLS = &tls.Config{NextProtos: []string{"h2"}}
	service.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, connection *tls.Conn, _ http.Handler) { resetStreams(connection, reset) },
	}
	service.StartTLS()
	t.Cleanup(service.Close)
	trusted := service.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return service.URL, &http.Client{Transport: transport}, reset
}

// resetStreams speaks just enough of RFC 9113.
func resetStreams(connection io.ReadWriter, reset *atomic.Int32) {
	const dataFrame, headersFrame, settingsFrame, endStream, ack = 0, 1, 4, 1, 1
	frames := []byte{0, 0, 0, settingsFrame, 0, 0, 0, 0, 0}
	if _, err := io.CopyN(io.Discard, connection, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	for {
		if _, err := connection.Write(frames); err != nil {
			return
		}
		frames = nil
		var head [9]byte
		if _, err := io.ReadFull(connection, head[:]); err != nil {
			return
		}
		length := int64(binary.BigEndian.Uint32(head[:4]) >> 8)
		if _, err := io.CopyN(io.Discard, connection, length); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], head[5:]
		switch {
		case kind == settingsFrame && flags&ack == 0:
			frames = []byte{0, 0, 0, settingsFrame, ack, 0, 0, 0, 0}
		case (kind == headersFrame || kind == dataFrame) && flags&endStream != 0:
			reset.Add(1)
			frames = append(append([]byte{0, 0, 4, 3, 0}, stream...), 0, 0, 0, 1)
		}
	}
}

func connected(t *testing.T, url string, options *Options) *Client {
	t.Helper()
	client, err := New(url, "svc_test_1", options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Without this the next two tests would show nothing.
func TestNetHTTPRepeatsByItself(t *testing.T) {
	url, cut := cuttingService(t)
	client := &http.Client{Transport: &http.Transport{}}
	if response, err := client.Get(url); err == nil {
		_, _ = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	request, _ := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
	request.Header.Set("Idempotency-Key", "k")
	if response, err := client.Do(request); err == nil {
		_ = response.Body.Close()
	}
	if cut.Load() != 2 {
		t.Errorf("HTTP/1.1: sent %d times, not twice", cut.Load())
	}

	url, client, reset := resettingService(t)
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	request, _ = http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if response, err := client.Do(request); err == nil {
		_ = response.Body.Close()
	}
	if reset.Load() < 2 {
		t.Errorf("HTTP/2: sent %d times, not twice or more", reset.Load())
	}
}

func TestSentOnceOnAConnectionThatWasUsedBefore(t *testing.T) {
	for name, call := range sentOnce {
		t.Run(name, func(t *testing.T) {
			url, cut := cuttingService(t)
			client := connected(t, url, &Options{HTTPClient: &http.Client{Transport: &http.Transport{}}})
			if _, err := client.Identity(context.Background(), "i1"); err != nil {
				t.Fatal(err)
			}
			if err := call(context.Background(), client); !errors.Is(err, ErrNetwork) {
				t.Errorf("not a network error: %v", err)
			}
			if cut.Load() != 1 {
				t.Errorf("sent %d times, not once", cut.Load())
			}
		})
	}
}

func TestSentOnceOverHTTP2(t *testing.T) {
	for name, call := range sentOnce {
		t.Run(name, func(t *testing.T) {
			url, client, reset := resettingService(t)
			err := call(context.Background(), connected(t, url, &Options{HTTPClient: client, Timeout: 2 * time.Second}))
			if !errors.Is(err, ErrNetwork) {
				t.Errorf("not a network error: %v", err)
			}
			if reset.Load() != 1 {
				t.Errorf("sent %d times, not once", reset.Load())
			}
		})
	}
}

func TestASendIsTriedThreeTimesOnAConnectionThatWasUsedBefore(t *testing.T) {
	url, cut := cuttingService(t)
	client := connected(t, url, &Options{HTTPClient: &http.Client{Transport: &http.Transport{}}})
	if _, err := client.Identity(context.Background(), "i1"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Send(context.Background(), "9876543210"); !errors.Is(err, ErrNetwork) {
		t.Errorf("not a network error: %v", err)
	}
	if cut.Load() != 3 {
		t.Errorf("sent %d times, not three times", cut.Load())
	}
}

// A deletion has an empty body instead of none.
func TestADeletionWorksOverBothVersionsOfHTTP(t *testing.T) {
	for _, version := range []int{1, 2} {
		service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if r.ProtoMajor != version || err != nil || len(body) > 0 || r.TransferEncoding != nil {
				t.Errorf("%s with %q, %v", r.Proto, body, r.TransferEncoding)
			}
			_, _ = io.WriteString(w, `{"deleted":true}`)
		}))
		service.EnableHTTP2 = version == 2
		service.StartTLS()
		client := connected(t, service.URL, &Options{HTTPClient: service.Client()})
		if _, err := client.DeleteIdentity(context.Background(), "i1"); err != nil {
			t.Error(err)
		}
		service.Close()
	}
}
