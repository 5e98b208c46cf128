package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/tool"
)

// Codes of errors that every driver may return.
const (
	BadParams = "bad-params"       // the params cannot be passed on; nothing was done
	BadOutput = "bad-output"       // the tool gave something that is no result
	TooLarge  = "output-too-large" // the tool gave more than is allowed
	TimedOut  = "timeout"
	Cancelled = "cancelled"
)

// Refuse returns the error of params that cannot be passed on.
func Refuse(format string, args ...any) error {
	return &tool.Error{Code: BadParams, Message: fmt.Sprintf(format, args...), Permanent: true}
}

// Stopped returns the error of an attempt that ended because ctx is done; it wraps the error of ctx
// and its cause.
func Stopped(ctx context.Context, uncertain bool) error {
	e := &tool.Error{Code: Cancelled, Message: "the call was cancelled", Uncertain: uncertain, Err: ctx.Err()}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Code, e.Message = TimedOut, "no result in time"
	}
	if cause := context.Cause(ctx); cause != ctx.Err() {
		e.Err = fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return e
}
