package dwar

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// version is that of the tag of a release; see clients/README.md.
const version = "0.1.0"

const (
	userAgent      = "dwar-client/" + version + " (go)"
	maxTries       = 3
	firstWait      = 250 * time.Millisecond
	maxTimeout     = 10 * time.Minute
	maxAnswerBytes = 1 << 20
)

// Options of a Client. Nil or a zero field is the default.
type Options struct {
	// Timeout is the longest that one call may take, repetitions and waits included: 30 s by default, at most 10
	// minutes. The context of a call can make it shorter.
	Timeout time.Duration
	// HTTPClient replaces the HTTP client of this package. Its CheckRedirect is not asked: redirects are not followed.
	HTTPClient *http.Client
}

// transport sends operations to one service within a time limit, and repeats those that are safe to repeat.
type transport struct {
	url     string
	timeout time.Duration
	client  *http.Client
}

type operation struct {
	method, path   string
	apiKey         Secret
	idempotencyKey string
	body           map[string]any
	// Whether it is safe to send again when the outcome of a try is unknown.
	repeatable bool
}

func newTransport(address string, options Options, timeout time.Duration) (*transport, error) {
	address, err := serviceURL(address)
	if err != nil {
		return nil, err
	}
	if options.Timeout != 0 {
		timeout = options.Timeout
	}
	if timeout < 0 || timeout > maxTimeout {
		return nil, argumentError("Timeout must be at most 10 minutes")
	}
	client := http.Client{Transport: newHTTPTransport()}
	if options.HTTPClient != nil {
		client = *options.HTTPClient
	}
	// A redirect would take the API key to another address.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &transport{url: address, timeout: timeout, client: &client}, nil
}

// newHTTPTransport keeps as many idle connections as a busy backend uses, since each that is closed keeps its port for a
// minute, and each for a shorter time than the service does, so that none is used as it is closed. Proxies of the
// environment get no loopback traffic.
func newHTTPTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 256, IdleConnTimeout: 20 * time.Second,
	}
}

// send gives the answer of an operation. complete says whether it has what it has to have.
func send[Answer any](ctx context.Context, t *transport, op operation, complete func(*Answer) bool) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	for try := 1; ; try++ {
		answer, failure := sendOnce(ctx, t, op, complete)
		if failure == nil {
			return answer, nil
		}
		wait := waitBefore(try, failure)
		if try == maxTries || !op.repeatable || !mayPass(failure) || !fits(ctx, wait) {
			return nil, failure
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, networkError(ctx, ctx.Err())
		}
	}
}

func sendOnce[Answer any](
	ctx context.Context, t *transport, op operation, complete func(*Answer) bool,
) (*Answer, *Error) {
	request, err := t.request(ctx, op)
	if err != nil {
		return nil, networkError(ctx, err)
	}
	response, err := t.client.Do(request)
	if err != nil {
		return nil, networkError(ctx, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return nil, networkError(ctx, err)
	}
	answer := new(Answer)
	if response.StatusCode == http.StatusOK && json.Unmarshal(body, answer) == nil && complete(answer) {
		if about, ok := any(answer).(interface{ setRequestID(string) }); ok {
			about.setRequestID(response.Header.Get("X-Request-Id"))
		}
		return answer, nil
	}
	return nil, refusal(response, body)
}

// request makes a body that can be read once, an empty one for a deletion: net/http repeats by itself what it can read
// again. See "What net/http repeats" in the README.
func (t *transport) request(ctx context.Context, op operation) (*http.Request, error) {
	var content []byte
	var body io.Reader
	if op.body != nil {
		content, _ = json.Marshal(op.body)
	}
	if op.body != nil || !op.repeatable {
		body = io.NopCloser(bytes.NewReader(content))
	}
	request, err := http.NewRequestWithContext(ctx, op.method, t.url+op.path, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = int64(len(content))
	request.Header.Set("User-Agent", userAgent)
	if op.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key := op.apiKey.Reveal(); key != "" {
		request.Header.Set("X-Api-Key", key)
	}
	if op.idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", op.idempotencyKey)
	}
	return request, nil
}

func refusal(response *http.Response, body []byte) *Error {
	failure := &Error{
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		retryAfter: wholeNumber(response.Header.Get("Retry-After")),
		remaining:  wholeNumber(response.Header.Get("RateLimit-Remaining")),
	}
	var refused struct {
		Error string `json:"error"`
		Code  Code   `json:"code"`
	}
	// A body that cannot be read leaves the code empty; the service has no empty code.
	_ = json.Unmarshal(body, &refused)
	if response.StatusCode >= 400 && serviceCodes[refused.Code] {
		failure.Code, failure.Message = refused.Code, cmp.Or(refused.Error, "the service refused")
	} else {
		failure.Code, failure.Message = ErrUnknown, unknownAnswer(response)
		failure.raw = newSecret(string(body))
	}
	return failure
}

var mediaType = regexp.MustCompile(`^[\w.+-]{1,60}/[\w.+-]{1,60}$`)

func unknownAnswer(response *http.Response) string {
	message := "an answer that this version of the client does not know: status " + strconv.Itoa(response.StatusCode)
	if kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";"); mediaType.MatchString(kind) {
		message += ", " + kind
	}
	return message
}

// networkError keeps the cause without the address, whose query may have a phone number. The message leaves out what may
// quote the answer.
func networkError(ctx context.Context, cause error) *Error {
	var address *url.Error
	if errors.As(cause, &address) {
		cause = address.Err
	}
	failure := &Error{Code: ErrNetwork, Message: "the request did not complete", cause: cause}
	var operation *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failure.Message, failure.cause = "no answer within the time limit", ctx.Err()
	case ctx.Err() != nil:
		failure.Message, failure.cause = "the call was given up", ctx.Err()
	case errors.As(cause, &operation):
		failure.Message += ": " + operation.Error()
	case errors.As(cause, &certificate):
		failure.Message += ": " + certificate.Error()
	case errors.Is(cause, io.EOF), errors.Is(cause, io.ErrUnexpectedEOF):
		failure.Message += ": the connection was closed"
	}
	return failure
}

// A 429 or 409 with another code is an answer for the person, or final.
var (
	repeatedStatuses = []int{409, 429, 500, 502, 503, 504}
	repeatedCodes    = []Code{ErrRateLimited, ErrIdempotencyConflict, ErrInternalError, ErrServiceUnavailable, ErrUnknown}
)

func mayPass(failure *Error) bool {
	if failure.Status == 0 {
		return failure.Code == ErrNetwork
	}
	return slices.Contains(repeatedStatuses, failure.Status) && slices.Contains(repeatedCodes, failure.Code)
}

// waitBefore returns the wait before the next try: as the service said, otherwise doubling with each try. The random
// half keeps many clients from retrying at the same moment.
func waitBefore(try int, failure *Error) time.Duration {
	if wait, said := failure.RetryAfter(); said {
		return wait
	}
	longest := firstWait << (try - 1)
	return longest/2 + rand.N(longest/2)
}

func fits(ctx context.Context, wait time.Duration) bool {
	end, limited := ctx.Deadline()
	return ctx.Err() == nil && (!limited || time.Now().Add(wait).Before(end))
}

var digits = regexp.MustCompile(`^[0-9]{1,9}$`)

func wholeNumber(header string) *int {
	if !digits.MatchString(header) {
		return nil
	}
	number, _ := strconv.Atoi(header)
	return &number
}

// The messages do not contain the address, which may hold a password.
func serviceURL(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return "", argumentError("the address of the service is not an absolute URL")
	}
	if parsed.Scheme != "https" && (parsed.Scheme != "http" || !isLoopback(parsed.Hostname())) {
		return "", argumentError("the address of the service must be https, or http on loopback")
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", argumentError("the address of the service must not have a user, a query or a fragment")
	}
	return parsed.Scheme + "://" + parsed.Host + strings.TrimRight(parsed.EscapedPath(), "/"), nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && address.IsLoopback())
}
