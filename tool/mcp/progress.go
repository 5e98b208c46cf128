package mcp

import (
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// listen makes a server report the progress of a call, unless tell is nil; done ends that. Each
// request has a token of its own, so that its reports can't be taken for those of another.
func (c *Client) listen(l *link, params *mcp.CallToolParams, tell func(tool.Progress)) (done func()) {
	if tell == nil {
		return func() {}
	}
	token := "plc-" + strconv.FormatInt(l.tokens.Add(1), 10)
	params.SetProgressToken(token)
	l.watched.Store(token, tell)
	return func() { l.watched.Delete(token) }
}

// timed registers the clock of a call until done is called.
func (l *link) timed(clock tool.Clock) (done func()) {
	if clock == nil {
		return func() {}
	}
	token := l.tokens.Add(1)
	l.clocks.Store(token, clock)
	return func() { l.clocks.Delete(token) }
}

// pause stops the time limits of all calls under way until resume is called: a server that asks a
// person does not always say for which call.
func (l *link) pause() (resume func()) {
	var all []func()
	l.clocks.Range(func(_, clock any) bool {
		all = append(all, clock.(tool.Clock).Pause())
		return true
	})
	return func() {
		for _, resume := range all {
			resume()
		}
	}
}

// progressed passes on a server's report about a call. It ignores reports that belong to no call.
func (c *Client) progressed(l *link, p *mcp.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	if tell, ok := l.watched.Load(token); ok {
		tell.(func(tool.Progress))(tool.Progress{
			Done: p.Progress, Total: p.Total,
			Message: driver.Head([]byte(c.redact(p.Message)), shownBytes),
		})
	}
}
