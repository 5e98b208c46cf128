package guard

import (
	"context"
	"fmt"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// MaxOutput fails calls whose result has more bytes than most, with the code "output-too-large".
// Since the tool has done its work by then, the failure is uncertain unless the tool may be called
// twice.
func MaxOutput(most int64) tool.Middleware {
	return func(next tool.Activity) tool.Activity {
		return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			result, err := next.Call(ctx, req)
			if err == nil && int64(len(result.Value)) > most {
				return tool.Result{Usage: result.Usage}, &tool.Error{
					Code: driver.TooLarge, Permanent: true,
					Uncertain: req.Definition == nil || !req.Definition.Effects.Repeatable(),
					Message:   fmt.Sprintf("the result has %d bytes, and may have %d; ask for less, or raise maxOutput", len(result.Value), most),
				}
			}
			return result, err
		})
	}
}
