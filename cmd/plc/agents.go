package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/gateway"
	"github.com/plc-lang/plc/cmd/plc/internal/server"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// agentFlags are the flags about agents that plc mcp and plc serve share.
type agentFlags struct {
	file    string // with roles
	page    string
	session gateway.Budget
}

func addAgents(c *cobra.Command, f *agentFlags, page string) {
	fl := c.Flags()
	fl.StringVar(&f.file, "agents", "", "a file with the roles of agents")
	fl.StringVar(&f.page, "page", "", page)
	fl.IntVar(&f.session.Steps, "session-steps", 0, "how many calls the runs of a session of an agent may start; 0 is no limit")
	fl.Float64Var(&f.session.Tokens, "session-tokens", 0, "how many tokens the runs of a session of an agent may use; 0 is no limit")
	fl.Float64Var(&f.session.Cost, "session-cost", 0, "how much the runs of a session of an agent may cost; 0 is no limit")
	completeFiles(c, "yaml,yml,json", "agents")
}

// addServed adds the flags for runs that clients of a server begin.
func addServed(c *cobra.Command, s *plc.Spec) {
	addChoice(c, &s.Approvals.Calls, "approve", "", "which calls need a person: all, destructive or none (default: the tool file's policy, or destructive)",
		itself(plc.ApproveAll, plc.ApproveDestructive, plc.ApproveNone))
	addChoice(c, &s.OnUncertain, "on-uncertain", "wait", "a call whose answer was lost and that may have done its work: wait for a person, retry, fail or skip",
		itself(plc.WaitUncertain, plc.RetryUncertain, plc.FailUncertain, plc.SkipUncertain))
	c.Flags().BoolVar(&s.Lazy, "lazy", false, "a person has to approve every plan as a whole")
	c.Flags().IntVar(&s.Limits.Parallel, "max-parallel", 0, "how many calls of a run may run at once (default 64)")
	addDuration(c, &s.Limits.Time, "max-time", "how long a run may take, as in 90s; 0 is no limit")
	s.Limits.State = exec.DefaultMaxBytes
	addSize(c, &s.Limits.State, "max-state", "how much the calls of a run may give, as in 64MiB")
}

// roles returns the roles of the file; nil if there is no file.
func (f *agentFlags) roles(env *environment) (map[string]*gateway.Role, error) {
	if f.file == "" {
		return nil, nil
	}
	text, err := env.readFile(f.file)
	if err != nil {
		return nil, err
	}
	return gateway.ReadRoles(f.file, text)
}

// pageOf returns a function for the URL of the page on which a person answers for a run, on a
// server at an address; nil for "".
func pageOf(address string) (func(run string) string, error) {
	if address == "" {
		return nil, nil
	}
	pages, err := addressesOf(address)
	if err != nil {
		return nil, err
	}
	return func(run string) string { return pages(run, true) }, nil
}

// addressesOf returns a function for the URL of the page on which a person decides about a run, or
// looks at it, on a server at an address.
func addressesOf(address string) (func(run string, decides bool) string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		return nil, fmt.Errorf("--page %q: it is the address of plc serve, as in https://plc.example:8443", address)
	}
	inbox, runs := u.JoinPath("inbox"), u.JoinPath("runs")
	return func(run string, decides bool) string {
		if decides {
			return inbox.String() + "?run=" + url.QueryEscape(run)
		}
		return runs.JoinPath(url.PathEscape(run)).String()
	}, nil
}

// gatewayConfig returns the configuration of a gateway's engine, and a pointer to set to the
// gateway, which is then notified when the tools of an MCP server change.
func (env *environment) gatewayConfig(store journal.Store) (plc.Config, *atomic.Pointer[gateway.Gateway]) {
	config := env.config(func() (journal.Store, error) { return store, nil })
	told := &atomic.Pointer[gateway.Gateway]{}
	config.OnToolsChanged = func(string) {
		if g := told.Load(); g != nil {
			g.ToolsChanged()
		}
	}
	return config, told
}

// role returns the role with a name; nil for "" if there is no file of roles.
func (f *agentFlags) role(env *environment, name string) (*gateway.Role, error) {
	roles, err := f.roles(env)
	switch {
	case err != nil:
		return nil, err
	case (f.file == "") != (name == ""):
		return nil, errors.New("--agents and --role go together: the file has roles, and the agent has one of them")
	case name == "":
		return nil, nil
	}
	role, ok := roles[name]
	if !ok {
		return nil, fmt.Errorf("--role %q: %s has no such role; %s", name, f.file, meant(name, maps.Keys(roles), "its roles are "+strings.Join(slices.Sorted(maps.Keys(roles)), ", ")))
	}
	return role, nil
}

// agentsOf returns the handler that serves agents on a server.
func agentsOf(g *gateway.Gateway, roles map[string]*gateway.Role) http.Handler {
	next := g.Handler(func(r *http.Request) *gateway.Caller {
		name, role := server.AgentOf(r)
		return &gateway.Caller{Name: name, Role: roles[role]}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, role := server.AgentOf(r)
		if _, ok := roles[role]; !ok && (role != "" || roles != nil) {
			http.Error(w, "the role of the token is not in the file of --agents; make a token with plc token create --agent", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
