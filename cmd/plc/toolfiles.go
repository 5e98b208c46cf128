package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

// toolFiles are the tool files that flags name, and the notations that they are in.
type toolFiles struct {
	plc.Toolset
	next string // the notation of the files named from now on; "" is plc's own
}

// addTools adds the flags that name tool files and say which tools plans may use.
func addTools(fl *pflag.FlagSet, c *cobra.Command, files *toolFiles) {
	addCatalogue(fl, c, files)
	fl.StringArrayVar(&files.Deny, "deny", nil, "tools that may not be used, by name or pattern, besides those of policies (repeatable)")
	fl.StringArrayVar(&files.Policies, "policy", nil, "policy on the flow of information, besides the flow sections of tool files: the plan has to be allowed by each (repeatable)")
	must(c.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions([]string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt)))
}

// addCatalogue adds the flags that name tool files.
func addCatalogue(fl *pflag.FlagSet, c *cobra.Command, files *toolFiles) {
	fl.Var((*toolsFlag)(files), "tools", "tool file, JSON or YAML, or math for the tools that calculate (repeatable; of two tools of one name the later counts)")
	fl.Var((*toolsFromFlag)(files), "tools-from", "notation of the --tools before it, or after it if there are none: "+strings.Join(catalogueNames(), ", "))
	fl.StringArrayVar(&files.MCP, "mcp", nil, "MCP servers whose tools may be called: a file with {\"mcpServers\": …} (repeatable)")
	fl.StringVar(&files.Lock, "lock", "", "lock of the tools of MCP servers, a file of plc tools lock (default plc.lock.json beside the file that has the servers)")
	for _, name := range []string{"mcp", "lock"} {
		must(c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions([]string{"json", "jsonc"}, cobra.ShellCompDirectiveFilterFileExt)))
	}
	must(c.RegisterFlagCompletionFunc("tools", cobra.FixedCompletions([]string{"yaml", "yml", "json", "jsonl"}, cobra.ShellCompDirectiveFilterFileExt)))
	must(c.RegisterFlagCompletionFunc("tools-from", cobra.FixedCompletions(catalogueNames(), cobra.ShellCompDirectiveNoFileComp)))
}

// args returns the flags that select these files. It leaves out the policy of the project file,
// which has no file of its own: the project file will be used again.
func (t *toolFiles) args() (all []string) {
	for _, f := range t.Files {
		if f.Text != "" {
			continue
		}
		all = append(all, "--tools", f.Name)
		if f.Notation != "" {
			all = append(all, "--tools-from", f.Notation)
		}
	}
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" {
				all = append(all, flag, v)
			}
		}
	}
	add("--mcp", t.MCP...)
	add("--lock", t.Lock)
	add("--deny", t.Deny...)
	add("--policy", t.Policies...)
	return all
}

// catalogueNames returns the notations that have their own form for tools.
func catalogueNames() (names []string) {
	for _, n := range notations.All() {
		if n.Catalogue != nil {
			names = append(names, n.Name)
		}
	}
	return names
}

// toolsFlag is the flag --tools.
type toolsFlag toolFiles

func (f *toolsFlag) Set(name string) error {
	f.Files = append(f.Files, plc.File(name).From(f.next))
	return nil
}

func (f *toolsFlag) String() string { return "" }

func (f *toolsFlag) Type() string { return "stringArray" }

// GetSlice returns the value of the flag in the form that a record keeps: for each file a notation,
// which is "" for our own, and a name. With Append and Replace it is a pflag.SliceValue.
func (f *toolsFlag) GetSlice() (all []string) {
	for _, t := range f.Files {
		all = append(all, t.Notation, t.Name)
	}
	return all
}

// Append implements pflag.SliceValue.
func (f *toolsFlag) Append(name string) error { return f.Set(name) }

// Replace sets the flag to a value of GetSlice.
func (f *toolsFlag) Replace(all []string) error {
	f.Files = nil
	for i := 0; i+1 < len(all); i += 2 {
		f.Files = append(f.Files, plc.File(all[i+1]).From(all[i]))
	}
	return nil
}

// toolsFromFlag is the flag --tools-from.
type toolsFromFlag toolFiles

func (f *toolsFromFlag) Set(name string) error {
	n, ok := notations.Lookup(name)
	if !ok || n.Catalogue == nil {
		return fmt.Errorf("it is one of %s", strings.Join(catalogueNames(), ", "))
	}
	if len(f.Files) == 0 {
		f.next = name
	}
	for i := range f.Files {
		if f.Files[i].Notation == "" {
			f.Files[i].Notation = name
		}
	}
	return nil
}

func (f *toolsFromFlag) String() string { return "" }

func (f *toolsFromFlag) Type() string { return "string" }
