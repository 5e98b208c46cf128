package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

// toolFiles are the tool files that flags name, and the notations that they are in.
type toolFiles struct {
	list []toolFile
	next *dialect.Notation // of the files named from now on; nil: our own

	mcp      []string // configs of MCP clients
	lock     string   // of the tools of MCP servers; "" is the one that lies beside the files
	unlocked bool     // no lock counts
	offline  bool     // no server is started that the lock has
	uncalled bool     // no tool will be called: secrets may be unset
}

// none reports whether no file is named.
func (f *toolFiles) none() bool { return len(f.list) == 0 && len(f.mcp) == 0 }

// toolFile is a tool file.
type toolFile struct {
	name string
	from *dialect.Notation // nil: our own
}

// addTools adds the flags that name tool files.
func addTools(fl *pflag.FlagSet, c *cobra.Command, files *toolFiles) {
	fl.Var((*toolsFlag)(files), "tools", "tool file, JSON or YAML, or math for the tools that calculate (repeatable; of two tools of one name the later counts)")
	fl.Var((*toolsFromFlag)(files), "tools-from", "notation of the --tools before it, or after it if there are none: "+strings.Join(catalogueNames(), ", "))
	fl.StringArrayVar(&files.mcp, "mcp", nil, "MCP servers whose tools may be called: a file with {\"mcpServers\": …} (repeatable)")
	fl.StringVar(&files.lock, "lock", "", "lock of the tools of MCP servers, a file of plc tools lock (default plc.lock.json beside the file that has the servers)")
	for _, name := range []string{"mcp", "lock"} {
		must(c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions([]string{"json", "jsonc"}, cobra.ShellCompDirectiveFilterFileExt)))
	}
	must(c.RegisterFlagCompletionFunc("tools", cobra.FixedCompletions([]string{"yaml", "yml", "json", "jsonl"}, cobra.ShellCompDirectiveFilterFileExt)))
	must(c.RegisterFlagCompletionFunc("tools-from", cobra.FixedCompletions(catalogueNames(), cobra.ShellCompDirectiveNoFileComp)))
}

// catalogueNames are the notations that have tools in a form of their own.
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
	f.list = append(f.list, toolFile{name, f.next})
	return nil
}

func (f *toolsFlag) String() string { return "" }

func (f *toolsFlag) Type() string { return "stringArray" }

// GetSlice is the flag as a record keeps it: a notation, "" for our own, and a name, for each
// file. With Append and Replace it is a pflag.SliceValue.
func (f *toolsFlag) GetSlice() (all []string) {
	for _, t := range f.list {
		notation := ""
		if t.from != nil {
			notation = t.from.Name
		}
		all = append(all, notation, t.name)
	}
	return all
}

// Append implements pflag.SliceValue.
func (f *toolsFlag) Append(name string) error { return f.Set(name) }

// Replace gives the flag what GetSlice gave.
func (f *toolsFlag) Replace(all []string) error {
	f.list = nil
	for i := 0; i+1 < len(all); i += 2 {
		t := toolFile{name: all[i+1]}
		if all[i] != "" {
			n, ok := notations.Lookup(all[i])
			if !ok {
				return fmt.Errorf("there is no notation %q", all[i])
			}
			t.from = n
		}
		f.list = append(f.list, t)
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
	if len(f.list) == 0 {
		f.next = n
	}
	for i := range f.list {
		if f.list[i].from == nil {
			f.list[i].from = n
		}
	}
	return nil
}

func (f *toolsFromFlag) String() string { return "" }

func (f *toolsFromFlag) Type() string { return "string" }
