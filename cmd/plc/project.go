package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/internal/display"
)

// addProject makes the project file set the defaults of the flags of all commands, after the given
// flags were checked.
func addProject(env *environment, root *cobra.Command) {
	root.PersistentFlags().BoolVar(&env.noProject, "no-project", false, "use no "+plc.ProjectName+" of this folder or one above it")
	root.PersistentFlags().BoolVar(&env.trust, "trust", false, "trust the "+plc.ProjectName+" of this folder, or one above it, for this command: it may start programs")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := notNegative(c); err != nil {
			return err
		}
		if store := c.Flags().Lookup("store"); store != nil && store.Changed {
			env.store = withoutPassword(store.Value.String())
		}
		if tools := c.Flags().Lookup("tools"); tools != nil {
			env.given = (*toolFiles)(tools.Value.(*toolsFlag)).Toolset
		}
		if env.noProject || c.Flags().Lookup("tools") == nil && c.Flags().Lookup("store") == nil {
			return nil
		}
		if user := c.Flags().Lookup("user"); user != nil && user.Changed { // it changes the configuration for all folders
			return nil
		}
		return env.useProject(c)
	}
}

// useProject sets the flags of a command that are in the project file and were not given.
func (env *environment) useProject(c *cobra.Command) error {
	name, p, err := env.project()
	if name == "" || err != nil {
		return err
	}
	if err := env.checkTrust(c.Context(), name, p); err != nil {
		return err
	}
	if above, err := plc.FindProject(filepath.Dir(filepath.Dir(name))); err == nil && above != "" && !p.Grants() {
		env.hintf("%s counts here, without having been trusted, and not %s above it; --no-project uses neither", display.Name(name), display.Name(above))
	}
	flags := c.Flags()
	if verbose, err := flags.GetBool("verbose"); err == nil && verbose {
		env.hintf("the project file is %s; --no-project uses none", name)
	}
	defaults := map[string][]string{"tools": p.Tools, "mcp": p.MCP, "policy": p.Policies, "deny": p.Deny, "ignore": p.Ignore, "severity": p.Severity}
	for flag, value := range map[string]string{"lock": p.Lock, "approve": p.Approve, "store": p.Store} {
		if value != "" {
			defaults[flag] = []string{value}
		}
	}
	if p.Strict {
		defaults["strict"] = []string{"true"}
	}
	if os.Getenv("PLC_STORE") != "" {
		delete(defaults, "store")
	}
	if tools := flags.Lookup("tools"); tools != nil {
		files := (*toolFiles)(tools.Value.(*toolsFlag))
		defer func() { files.Files = append(files.Files, plc.ProjectPolicy(p)...) }()
	}
	resumes := flags.Changed("resume") // of solve: the recorded settings count
	for flag, values := range defaults {
		// These flags add to those of the command line. A hidden flag has no effect in this
		// command.
		adds := flag == "deny" || flag == "policy" || flag == "ignore" || flag == "severity"
		known := flags.Lookup(flag)
		if known == nil || known.Hidden || flags.Changed(flag) && !adds || resumes && flag != "store" || flag == "approve" && known.Value.Type() != "string" {
			continue
		}
		for _, value := range values {
			if err := flags.Set(flag, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// withoutPassword returns the name of a store with any password in it replaced by xxxxx.
func withoutPassword(store string) string {
	u, err := url.Parse(store)
	if err != nil || !strings.Contains(store, "://") {
		return store
	}
	values := u.Query()
	for _, name := range []string{"password", "sslpassword"} {
		if values.Has(name) {
			values.Set(name, "xxxxx")
			u.RawQuery = values.Encode()
		}
	}
	return u.Redacted()
}
