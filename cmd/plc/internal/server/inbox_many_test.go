package server

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The riskiest call that waits is in the inbox, however many others have waited for longer, and the
// inbox says how many it leaves out.
func TestRiskiestIsInTheInbox(t *testing.T) {
	g := newRig(t, Options{})
	begin := func(tool string, calls int) string {
		plan := slices.Repeat([]object{{"_tool": tool, "what": "x", "_approve": true}}, calls)
		run := g.want(201, "POST", "/v1/runs", object{"plan": plan})["run"].(string)
		g.until(run, "runPaused", 0)
		return run
	}
	begin("put", maxWaiting)
	risky := begin("wipe", 1)
	req, _ := http.NewRequestWithContext(t.Context(), "GET", g.http.URL+"/inbox", nil)
	req.Header.Set("Authorization", "Bearer "+g.admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, _ := io.ReadAll(res.Body)
	if !strings.Contains(string(page), risky) || !strings.Contains(string(page), "1 more wait.") {
		t.Errorf("status %d, the riskiest is there: %v", res.StatusCode, strings.Contains(string(page), risky))
	}
}
