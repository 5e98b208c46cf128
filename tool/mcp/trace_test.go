//go:build unix

package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool"
)

// A server is told the trace in _meta, over all transports, and the trace what was spoken.
func TestTrace(t *testing.T) {
	for _, way := range []struct {
		transport string
		server    Server
	}{{"pipe", stdio("good")}, {"tcp", overHTTP(t, false, nil)}, {"tcp", overHTTP(t, true, nil)}} {
		p := open(t, nil, way.server)
		notes := map[string]any{}
		traced := tool.WithTrace(t.Context(), tool.Trace{Parent: "00-1-2-01", State: "v=1", Note: func(name string, v any) { notes[name] = v }})
		for ctx, want := range map[context.Context]string{traced: `"00-1-2-01 v=1"`, t.Context(): `"<nil> <nil>"`} {
			got, err := callIn(ctx, t, p, "trace", `{}`)
			if err != nil || !equalJSON(got, want) {
				t.Errorf("%s: %s, %v; want %s", way.transport, got, err, want)
			}
		}
		if got := fmt.Sprint(notes); notes["mcp.method.name"] != "tools/call" || notes["network.transport"] != way.transport || !strings.HasPrefix(fmt.Sprint(notes["mcp.protocol.version"]), "202") {
			t.Error(got)
		}
	}
}
