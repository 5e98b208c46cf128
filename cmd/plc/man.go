package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand returns the command that writes manual pages. It is hidden: only packages need it.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of all commands",
		Hidden: true,
		Example: `  plc man man1
  plc man ~/.local/share/man/man1`,
		Args: wants(1, 1, "a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			info, _ := debug.ReadBuildInfo()
			date, _, _ := strings.Cut(buildSetting(info, "vcs.time"), "T")
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			for name, page := range manPages(c.Root(), date) {
				if err := os.WriteFile(filepath.Join(args[0], name+".1"), []byte(page), 0o666); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// manPages returns the manual pages of a command and of all commands below it, by their names.
func manPages(c *cobra.Command, date string) map[string]string {
	all := map[string]string{manName(c): manPage(c, date)}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			maps.Copy(all, manPages(sub, date))
		}
	}
	return all
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage returns the help of a command as a page with the macros of man(7).
func manPage(c *cobra.Command, date string) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var b strings.Builder
	line := func(format string, args ...string) {
		texts := make([]any, len(args))
		for i, a := range args {
			texts[i] = roff(a)
		}
		fmt.Fprintf(&b, format+"\n", texts...)
	}
	line(`.TH %s 1 "`+date+`" "plc %s" "plc"`, strings.ToUpper(manName(c)), version())
	line(".SH NAME\n%s \\- %s", manName(c), c.Short)
	line(".SH SYNOPSIS\n.B %s", c.CommandPath())
	if args := strings.TrimPrefix(c.UseLine(), c.CommandPath()); args != "" {
		line("%s", strings.TrimSpace(args))
	}
	if c.HasAvailableSubCommands() {
		line(".br\n.B %s\nCOMMAND", c.CommandPath())
	}
	line(".SH DESCRIPTION")
	for i, paragraph := range strings.Split(strings.TrimRight(cmp.Or(c.Long, c.Short+"."), "\n"), "\n\n") {
		paragraph = strings.TrimPrefix(paragraph, "#### ") // cobra's texts have headings
		switch {
		case strings.HasPrefix(paragraph, "\t"):
			line(".PP\n.nf\n%s\n.fi", strings.ReplaceAll(paragraph, "\t", "  "))
		case i > 0:
			line(".PP\n%s", paragraph)
		default:
			line("%s", paragraph)
		}
	}
	if c.HasAvailableSubCommands() {
		line(".SH COMMANDS")
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				line(".TP\n.BR %s (1)\n%s", manName(sub), sub.Short)
			}
		}
	}
	flags := func(set *pflag.FlagSet) {
		set.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				name, usage := flagUsage(f)
				line(".TP\n.B %s\n%s", name, usage)
			}
		})
	}
	line(".SH OPTIONS")
	for _, g := range inGroups(c.LocalFlags()) {
		if g.name != "" {
			line(".SS %s flags", g.name)
		}
		flags(g.flags)
	}
	if c.HasAvailableInheritedFlags() {
		line(".SS Global flags")
		flags(c.InheritedFlags())
	}
	line(".SH EXAMPLES\n.nf\n%s\n.fi", c.Example)
	line(".SH SEE ALSO")
	if c.HasParent() {
		line(".BR %s (1),", manName(c.Parent()))
	}
	line("https://github.com/plc\\-lang/plc")
	return b.String()
}

// flagUsage returns a flag and its usage as the help shows them.
func flagUsage(f *pflag.Flag) (name, usage string) {
	one := pflag.NewFlagSet("", pflag.ContinueOnError)
	one.AddFlag(f)
	name, usage, _ = strings.Cut(strings.TrimSpace(one.FlagUsages()), "   ")
	return name, usage
}

// roffEscapes escapes the characters that roff would interpret, or print as another character.
var roffEscapes = strings.NewReplacer(
	`\`, `\(rs`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`, `"`, `\(dq`, "\n.", "\n\\&.")

// roff escapes a text for roff, in ASCII.
func roff(text string) string {
	var b strings.Builder
	for _, r := range strings.TrimPrefix(roffEscapes.Replace("\n"+text), "\n") {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
