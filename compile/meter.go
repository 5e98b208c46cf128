package compile

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
)

// All values and types of a compilation, with the documents that it delegates to, are checked with
// one meter: hostile schemas could take seconds for each of very many literals. Ordinary plans use
// less than a hundredth of it.
const (
	meterSteps        = 16 << 20 // about a second
	meterStepsPerByte = 64       // of the documents, and of the values that are given
)

// newMeter returns the meter of a compilation.
func newMeter(doc *lang.Document, opts *Options) *schemas.Meter {
	if opts.Meter != nil {
		opts.Meter.Add(meterStepsPerByte * len(doc.File.Text))
		return opts.Meter
	}
	ctx := opts.Context
	if ctx == nil {
		ctx = context.Background()
	}
	bytes := len(doc.File.Text)
	for _, list := range [...]map[string]Given{opts.Values, opts.Schemas} {
		for _, g := range list {
			bytes += len(g.JSON)
		}
	}
	return schemas.NewMeter(ctx, meterSteps+meterStepsPerByte*bytes)
}

// violations returns the ways in which a value of the document breaks a schema. A name that occurs
// twice in it was reported by the reader. If the meter is used up, it returns none, and metered
// reports that.
func (c *unit) violations(s *schemas.Schema, value json.RawMessage) []schemas.Violation {
	err := c.delegates.meter.Validate(s, value)
	if err == nil || isDuplicate(jsonscan.Check(value, jsonscan.Limits{})) {
		return nil
	}
	var broken *schemas.ValidationError
	if !errors.As(err, &broken) {
		return nil
	}
	if more := broken.MoreWords(); more != "" {
		return append(slices.Clone(broken.Violations), schemas.Violation{Message: more})
	}
	return broken.Violations
}

func isDuplicate(err error) bool {
	var e *jsonscan.Error
	return errors.As(err, &e) && e.Kind == jsonscan.Duplicate
}

// metered reports, once, that not everything was checked because the meter is used up.
func (c *unit) metered() {
	if c.within != nil {
		return // reported for the plan itself
	}
	switch err := c.delegates.meter.Err(); {
	case errors.Is(err, schemas.ErrSpent):
		c.errorf(diag.OverLimit, c.at(c.doc.Root.Span()), "%s: not all values and types were checked; use plainer schemas, or divide the plan", err)
	case err != nil:
		c.errorf(diag.OverLimit, c.at(c.doc.Root.Span()), "not all values and types were checked: %s", err)
	}
}
