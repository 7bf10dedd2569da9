package dwar

import (
	"context"
	"errors"
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

func takeOff[Result any](ctx context.Context, work func(context.Context) (Result, error)) *flight[Result] {
	// Stays the error where the work ends its goroutine, as t.FailNow does.
	f := &flight[Result]{since: time.Now(), landed: make(chan struct{})}
	f.err = errors.New("the work that was waited for did not end")
	go func() {
		defer close(f.landed)
		defer func() { f.panicked = recover() }()
		f.result, f.err = work(context.WithoutCancel(ctx))
	}()
	return f
}

// wait does nothing where there is no flight.
func (f *flight[Result]) wait(ctx context.Context) (Result, error) {
	var none Result
	if f == nil {
		return none, nil
	}
	select {
	case <-f.landed:
		if f.panicked != nil {
			panic(f.panicked)
		}
		return f.result, f.err
	case <-ctx.Done():
		return none, networkError(ctx, ctx.Err())
	}
}

// waitFor is wait, but ends without an error once the work has run for so long.
func (f *flight[Result]) waitFor(ctx context.Context, patience time.Duration) error {
	if f == nil {
		return nil
	}
	timer := time.NewTimer(patience - time.Since(f.since))
	defer timer.Stop()
	select {
	case <-f.landed:
		_, err := f.wait(ctx)
		return err
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return networkError(ctx, ctx.Err())
	}
}

func (f *flight[Result]) isOver() bool {
	select {
	case <-f.landed:
		return true
	default:
		return false
	}
}
