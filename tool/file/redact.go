package file

import (
	"context"
	"errors"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
	"github.com/plc-lang/plc/tool/internal/secret"
)

// discreet is an activity whose output contains no secrets: programs and servers may quote the
// secrets that they got, and their output goes into plans, records and back to models.
type discreet struct {
	next  tool.Activity
	known *secret.Redactor
}

// withoutSecrets wraps the activity, so that its results and errors contain none of these secrets.
func withoutSecrets(next tool.Activity, secrets []string) tool.Activity {
	known := secret.New(secrets...)
	if known == nil || next == nil {
		return next
	}
	return &discreet{next, known}
}

// Call calls the activity and removes the secrets from its progress, result and error.
func (d *discreet) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	if report := req.Progress; report != nil {
		own := *req
		own.Progress = func(p tool.Progress) {
			p.Message = d.known.Message(p.Message)
			report(p)
		}
		req = &own
	}
	res, err := d.next.Call(driver.WithRedactor(ctx, d.known), req)
	res.Value, res.Outcome = d.known.Value(res.Value), d.known.Text(res.Outcome)
	return res, d.clean(err)
}

// clean returns an error without secrets.
func (d *discreet) clean(err error) error {
	var e *tool.Error
	switch {
	case errors.As(err, &e):
		clean := *e
		clean.Code, clean.Message = d.known.Message(e.Code), d.known.Message(e.Message)
		return &clean
	case err == nil || d.known.Message(err.Error()) == err.Error():
		return err
	}
	return &tool.Error{Code: "error", Message: d.known.Message(err.Error())}
}
