package lsp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// silentHost is a host that takes a request for a document and answers when the test says so.
func silentHost(t *testing.T) (url string, asked <-chan struct{}, answer func()) {
	t.Helper()
	reached, gate := make(chan struct{}, 10), make(chan struct{})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `[{"_tool": "resolve", "revision": "HEAD", "_outputPath": "†state.commit"}]`)
	}))
	t.Cleanup(host.Close)
	return host.URL, reached, func() { close(gate) }
}

// delegating opens a plan whose analysis waits for a host.
func delegating(t *testing.T, url string) (*client, protocol.URI) {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	dir := folder(t, "plc.yaml", "tools: [tools.yaml]\n",
		"tools.yaml", read(t, history+"tools.yaml")+"\npolicy: {hosts: ["+host+"]}\n")
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "far.plan.json"))
	c.open(uri, "json", fmt.Sprintf(`[{"_tool": "resolve", "revision": "HEAD", "_outputPath": "†state.x"}, {"_tool": "far", "_delegate": %q, "_outputPath": "†state.y"}]`, url+"/page.json"))
	return c, uri
}

// A request that is cancelled is answered at once, also while its plan is still being analysed, and
// what others want of the same plan comes all the same.
func TestCancellation(t *testing.T) {
	url, asked, answer := silentHost(t)
	c, uri := delegating(t, url)
	<-asked // by the diagnostics
	ctx, end := limited()
	defer end()
	params := map[string]any{"textDocument": map[string]any{"uri": uri}, "position": protocol.Position{Character: 13}}
	hover := func(id jsonrpc2.ID) jsonrpc2.Waiter {
		w, err := c.conn.DispatchCall(ctx, "textDocument/hover", params, jsonrpc2.PickID(id))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	number, name := jsonrpc2.ID{Num: 1001}, jsonrpc2.ID{Str: "a hover", IsString: true}
	first, second, kept := hover(number), hover(name), hover(jsonrpc2.ID{Num: 1002})
	c.notify("$/cancelRequest", map[string]any{"id": 1001})
	c.notify("$/cancelRequest", map[string]any{"id": "a hover"})
	c.notify("$/cancelRequest", map[string]any{"id": 4711}) // nobody's
	c.notify("$/cancelRequest", map[string]any{"id": []int{}})
	for _, w := range []jsonrpc2.Waiter{first, second} {
		if err := w.Wait(ctx, nil); code(err) != protocol.RequestCancelled {
			t.Errorf("a cancelled request is answered by %v", err)
		}
	}
	answer()
	var h protocol.Hover
	if err := kept.Wait(ctx, &h); err != nil || !strings.Contains(h.Contents.Value, "resolve(") {
		t.Errorf("the request that was not cancelled: %+v, %v", h, err)
	}
	c.notify("$/cancelRequest", map[string]any{"id": 1002}) // it has its answer
	c.call("textDocument/hover", params, &h)
}

// A server ends when it is told to, whatever it is waiting for.
func TestEndsWhileAHostIsSilent(t *testing.T) {
	url, asked, _ := silentHost(t)
	c, _ := delegating(t, url)
	<-asked
	c.call("shutdown", nil, nil)
	c.notify("exit", nil)
	ctx, end := limited()
	defer end()
	select {
	case err := <-c.ended:
		if c.ended <- err; err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Error("the server waits for the host")
	}
}
