package dwar

import (
	"context"
	"time"
)

// flight is a piece of work that several callers wait for. It goes on when they give up. A panic in it, such as that of a
// Store, reaches each of them, and not the program.
type flight[Result any] struct {
	since    time.Time
	landed   chan struct{}
	result   Result
	err      error
	panicked any
}

// errNotEnded stays the error where the work panics or ends its goroutine, as t.FailNow does.
var errNotEnded = &Error{Code: ErrNetwork, Message: "the work that was waited for did not end"}

func takeOff[Result any](ctx context.Context, work func(context.Context) (Result, error)) *flight[Result] {
	f := &flight[Result]{since: time.Now(), landed: make(chan struct{}), err: errNotEnded}
	go func() {
		defer close(f.landed)
		defer func() { f.panicked = recover() }()
		f.result, f.err = work(context.WithoutCancel(ctx))
	}()
	return f
}

// underway is nil if the work has ended, or if there is no flight.
func (f *flight[Result]) underway() *flight[Result] {
	if f == nil {
		return nil
	}
	select {
	case <-f.landed:
		return nil
	default:
		return f
	}
}

// wait returns at once if there is no flight, and without an error at giveUp.
func (f *flight[Result]) wait(ctx context.Context, giveUp <-chan time.Time) (result Result, err error) {
	if f == nil {
		return result, nil
	}
	select {
	case <-f.landed:
		if f.panicked != nil {
			panic(f.panicked)
		}
		return f.result, f.err
	case <-giveUp:
		return result, nil
	case <-ctx.Done():
		return result, networkError(ctx, ctx.Err())
	}
}
