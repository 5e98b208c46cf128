package gateway

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
)

// A client that subscribed to a run is told when it stops, over pipes and HTTP, and reads how
// far it is.
func TestSubscription(t *testing.T) {
	for _, kind := range []string{"pipes", "HTTP"} {
		t.Run(kind, func(t *testing.T) {
			w, store := &world{}, open(t, filepath.Join(t.TempDir(), "runs.db"))
			g, _ := serve(t, w, store, plc.Spec{})
			told := make(chan string, 1)
			var transport mcp.Transport
			if kind == "HTTP" {
				server := httptest.NewServer(g.Handler(nil))
				defer server.Close()
				transport = &mcp.StreamableClientTransport{Endpoint: server.URL}
			} else {
				here, there := mcp.NewInMemoryTransports()
				go g.Serve(t.Context(), there)
				transport = here
			}
			c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
			}).Connect(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			state, refused := call[*State](t, c, "run", list(object{"_tool": "wipe", "_outputPath": "†state.x"}))
			if refused != "" || state.Status != "paused" {
				t.Fatalf("%+v %s", state, refused)
			}
			uri := runsURI + state.Run
			if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
			if err := store.Answer(t.Context(), state.Run, "", "wipe", exec.Answer{Approved: true}); err != nil {
				t.Fatal(err)
			}
			if got := <-told; got != uri {
				t.Errorf("told of %s, want %s", got, uri)
			}
			res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || !strings.Contains(res.Contents[0].Text, `"status":"completed"`) {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// The catalogue is a resource as a whole and by the tool, and its names are completed.
func TestCatalogueAsResources(t *testing.T) {
	_, c := serve(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), plc.Spec{})
	for uri, want := range map[string]string{
		"plc://tools": `"signature":"wipe`, "plc://tools/wipe": `"effect":"destructive"`, "plc://codes/PLC201": "PLC201", "plc://notation": "_outputPath",
	} {
		res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(res.Contents[0].Text, want) || res.CacheScope != "private" {
			t.Errorf("%s: %+v, %v", uri, res, err)
		}
	}
	for _, uri := range []string{"plc://tools/nosuch", "plc://codes/PLC999", "plc://runs/nosuch", "plc://runs/", "plc://nosuch"} {
		if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("there is a resource %s", uri)
		}
	}
	complete := func(kind, name, value string) *mcp.CompletionResultDetails {
		ref := &mcp.CompleteReference{Type: "ref/" + kind}
		if kind == "prompt" {
			ref.Name = "write_plan"
		} else {
			ref.URI = toolsURI + "/{+name}"
		}
		res, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: name, Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		return &res.Completion
	}
	if got := complete("resource", "name", "wi"); !slices.Equal(got.Values, []string{"wipe"}) || got.Total != 1 || got.HasMore {
		t.Errorf("%+v", got)
	}
	if got := complete("resource", "code", "PLC20"); !slices.Contains(got.Values, "PLC201") {
		t.Errorf("%+v", got)
	}
	if got := complete("prompt", "name", ""); len(got.Values) != 0 {
		t.Errorf("%+v", got)
	}
}

// A client that subscribed to the list of tools is told that it has changed.
func TestToolsChanged(t *testing.T) {
	g := serveWith(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), Options{})
	for _, way := range ways {
		t.Run(way.transport+" "+way.version, func(t *testing.T) {
			told := make(chan string, 100)
			c := connect(t, g, way.transport, way.version, &mcp.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
			})
			if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: toolsURI}); err != nil {
				t.Fatal(err)
			}
			for range 100 { // the server may hear of the subscription later
				g.ToolsChanged()
				select {
				case got := <-told:
					if got != toolsURI {
						t.Errorf("told of %s", got)
					}
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
			t.Error("not told")
		})
	}
}
