package builtin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// maxWait is the longest that wait waits.
const maxWait = 24 * time.Hour

func newNow(Config) (tool.Activity, error) {
	return tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
		now := time.Now().UTC()
		value, err := json.Marshal(struct {
			Time    time.Time `json:"time"`
			Date    string    `json:"date"`
			Weekday string    `json:"weekday"`
			Unix    int64     `json:"unix"`
		}{now, now.Format(time.DateOnly), now.Weekday().String(), now.Unix()})
		return tool.Result{Value: value}, err
	}), nil
}

func newWait(Config) (tool.Activity, error) {
	return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		d, err := waitOf(gjson.GetBytes(req.Params, "duration"))
		if err != nil {
			return tool.Result{}, err
		}
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return tool.Result{}, nil
		case <-ctx.Done():
			return tool.Result{}, driver.Stopped(ctx, false)
		}
	}), nil
}

// waitOf reads a duration: a number of seconds, or a text.
func waitOf(v gjson.Result) (time.Duration, error) {
	seconds := v.Num
	if v.Type == gjson.String {
		d, err := time.ParseDuration(v.Str)
		if err != nil {
			return 0, driver.Refuse("%q is no duration like 90s or 1m30s", driver.Head([]byte(v.Str), 60))
		}
		seconds = d.Seconds()
	}
	if !(seconds >= 0 && seconds <= maxWait.Seconds()) {
		return 0, driver.Refuse("the duration is from 0 to %v", maxWait)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
