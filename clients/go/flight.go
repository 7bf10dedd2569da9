package dwar

import (
	"context"
	"time"
)

// flight is a piece of work that several callers wait for. It goes on when they give up.
type flight[Result any] struct {
	since  time.Time
	landed chan struct{}
	result Result
	err    error
}

func takeOff[Result any](ctx context.Context, work func(context.Context) (Result, error)) *flight[Result] {
	f := &flight[Result]{since: time.Now(), landed: make(chan struct{})}
	go func() {
		defer close(f.landed)
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
		return f.err
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return networkError(ctx, ctx.Err())
	}
}
