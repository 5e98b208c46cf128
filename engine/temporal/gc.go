package temporal

import (
	"context"
	"errors"
	"time"
)

// before is how much before the start of a workflow a value of it may have been stored: a run that
// goes on in another workflow stores the input of that one, and clocks differ.
const before = time.Hour

// Collect deletes the values of the storage that no run of the namespace needs which the server
// still knows: those that were stored before all of these began, and at least so long ago. Nobody
// else may use the storage. With dry nothing is deleted. It returns what was, or would be, deleted.
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
