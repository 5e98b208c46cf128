package temporal

import (
	"context"
	"errors"
	"time"
)

// before is how long before the start of a workflow its values may have been stored: a workflow
// stores the input of the next one it continues in, and clocks differ.
const before = time.Hour

// Collect deletes values from the storage that no run needs that the server still knows. These are
// the values stored before all such runs started and at least age ago. The storage must not be used
// for anything else. With dry, nothing is deleted. Collect returns the number and the size of the
// values that were, or would be, deleted.
func (c *Client) Collect(ctx context.Context, age time.Duration, dry bool) (count int, bytes int64, err error) {
	if c.storage == nil {
		return 0, 0, errors.New("there is no storage: --storage names one")
	}
	oldest := time.Now().Add(-age)
	for w, err := range c.list(ctx, "WorkflowType = '"+workflowType+"' OR WorkflowType = '"+partType+"'") {
		if err != nil {
			return 0, 0, missing("", err)
		}
		if start := w.StartTime.AsTime().Add(-before); start.Before(oldest) {
			oldest = start
		}
	}
	for v, err := range c.storage.all(ctx) {
		if err != nil {
			return count, bytes, err
		}
		if !v.at.Before(oldest) {
			continue
		}
		if !dry {
			if err := c.storage.remove(ctx, v.name); err != nil {
				return count, bytes, err
			}
		}
		count++
		bytes += v.size
	}
	return count, bytes, nil
}
