package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command that the help lists has a page, which has all its flags.
func TestManPages(t *testing.T) {
	root := rootCommand(&environment{})
	pages := manPages(root, "2026-01-02")
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		page, ok := pages[strings.ReplaceAll(c.CommandPath(), " ", "-")]
		if !ok {
			t.Errorf("%s has no page", c.CommandPath())
		}
		inPage := func(f *pflag.Flag) {
			line := regexp.MustCompile(`(?m)^\.B (\\-., )?` + regexp.QuoteMeta(strings.ReplaceAll("--"+f.Name, "-", `\-`)) + `( |$)`)
			if !f.Hidden && !line.MatchString(page) {
				t.Errorf("the page of %s lacks --%s", c.CommandPath(), f.Name)
			}
		}
		c.LocalFlags().VisitAll(inPage)
		c.InheritedFlags().VisitAll(inPage)
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				visit(sub)
			}
		}
	}
	visit(root)
}

// Mandoc, where it is installed, finds nothing wrong with the pages.
func TestManPagesAreSound(t *testing.T) {
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("there is no mandoc")
	}
	dir := t.TempDir()
	args := []string{"-Tlint", "-Wwarning"}
	for name, page := range manPages(rootCommand(&environment{}), "2026-01-02") {
		file := filepath.Join(dir, name+".1")
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	if out, err := exec.CommandContext(t.Context(), "mandoc", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The cask of a release names all pages: Homebrew takes no patterns.
func TestManPagesOfCask(t *testing.T) {
	config, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile(`- man1/(.+)\.1\.gz\n`).FindAllSubmatch(config, -1) {
		named = append(named, string(m[1]))
	}
	want := slices.Sorted(maps.Keys(manPages(rootCommand(&environment{}), "")))
	if d := cmp.Diff(want, slices.Sorted(slices.Values(named))); d != "" {
		t.Errorf(".goreleaser.yaml names other pages than there are: %s", d)
	}
}

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		".x\n.y z.\n'w'": "\\&.x\n\\&.y z.\n\\(aqw\\(aq",
		`a\nb-c "d"`:     `a\(rsnb\-c \(dqd\(dq`,
		"†state…":        `\[u2020]state\[u2026]`,
		"\n\n.\n":        "\n\n\\&.\n",
	} {
		if got := roff(text); got != want {
			t.Errorf("roff(%q) = %q, want %q", text, got, want)
		}
	}
}
