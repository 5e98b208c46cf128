package plc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What the files of a release, the workflows and the pages say to each other. The manual pages that
// the cask names are compared with the commands in cmd/plc.

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// matched returns what the group of a pattern matches in files, which is the same at all places.
func matched(t *testing.T, pattern string, names ...string) string {
	t.Helper()
	value := ""
	for _, name := range names {
		all := regexp.MustCompile(pattern).FindAllStringSubmatch(readText(t, name), -1)
		if len(all) == 0 {
			t.Errorf("%s: nothing matches %s", name, pattern)
		}
		for _, m := range all {
			if value != "" && m[1] != value {
				t.Errorf("%s: %s, and elsewhere %s", name, m[1], value)
			}
			value = m[1]
		}
	}
	return value
}

func TestReleaseNames(t *testing.T) {
	const workflows = ".github/workflows/"
	matched(t, `goreleaser(?:/v2@|-action@v\d+\n\s+with:\s+\{?version: )(v[0-9.]+)`,
		"Makefile", workflows+"ci.yml", workflows+"release.yml", "docs/decisions/045-releases.md")
	matched(t, `(ghcr\.io/[a-z-]+/[a-z-]+)`,
		".goreleaser.yaml", "docs/installing.md", "deploy/Dockerfile", "deploy/compose.yaml", "deploy/kubernetes.yaml")
	matched(t, `(?:temporal-cli-|cmd/temporal@v|\nversion=|command temporal,\n// v)([0-9]+\.[0-9.]*[0-9])`,
		".ci/temporal", workflows+"ci.yml", "docs/temporal.md", "engine/temporal/main_test.go")
	if got := matched(t, `go install (\S+)@latest`, "README.md", "docs/installing.md"); got != module+"/cmd/plc" {
		t.Errorf("go install %s: the command is %s/cmd/plc", got, module)
	}
	tap := matched(t, `owner: plc-lang, name: (homebrew-\w+)`, ".goreleaser.yaml")
	matched(t, "(?:plc-lang/)("+tap+")`", "docs/releasing.md")
	matched(t, `(HOMEBREW_TAP_TOKEN)`, ".goreleaser.yaml", workflows+"release.yml", "docs/releasing.md")
	if want := "https://" + module; matched(t, `homepage: (\S+)`, ".goreleaser.yaml") != want {
		t.Errorf("the homepage is %s", want)
	}
}

// The files that .goreleaser.yaml and the workflows name are there.
func TestReleaseFiles(t *testing.T) {
	text := readText(t, ".goreleaser.yaml")
	named := regexp.MustCompile(`(?:main: |dockerfile: |hooks: \[|src: |extra_files: \[LICENSE, )([\w./*-]+)`).FindAllStringSubmatch(text, -1)
	for _, name := range []string{"release.yml", "ci.yml", "site.yml"} {
		named = append(named, regexp.MustCompile(`(?:run: |uses: |--prefix )(\.?[\w.]+/[\w./-]+)(?:\s|$)`).FindAllStringSubmatch(readText(t, ".github/workflows/"+name), -1)...)
	}
	made := []string{"share/man1/*", "share/completions/*", "share/LICENSES.txt"} // by .ci/share
	share := readText(t, ".ci/share")
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ (\S+)$`).FindAllStringSubmatch(share, -1) {
		made = append(made, "share/completions/"+m[1])
	}
	for _, m := range named {
		there := slices.Contains(made, m[1])
		if !strings.HasPrefix(m[1], "share/") {
			_, err := os.Stat(m[1])
			there = err == nil
		}
		if !there {
			t.Errorf("%s is not there", m[1])
		}
	}
	if len(named) < 15 {
		t.Errorf("only %d files were found", len(named))
	}
}

// The first section of the changelog is what comes next, or the version whose notes .ci/notes prints.
func TestReleaseNotes(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^## (.*)$`).FindStringSubmatch(readText(t, "CHANGELOG.md"))[1]
	if heading == "Unreleased" {
		return
	}
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(heading) {
		t.Fatalf("the heading %q is no version", heading)
	}
	if runtime.GOOS == "windows" {
		t.Skip("it is a program for a POSIX shell")
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(".ci", "notes"), heading).CombinedOutput()
	if err != nil || strings.Contains(string(out), "\n## ") || len(out) < 100 {
		t.Errorf("%v: %s", err, out)
	}
}

// The Makefile counts its words right, has a line for each, and those that the workflow of the
// night asks for.
func TestMakefile(t *testing.T) {
	text := readText(t, "Makefile")
	words := strings.Fields(regexp.MustCompile(`\.PHONY: (.*)`).FindStringSubmatch(text)[1])
	numbers := strings.Fields("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty")
	if first := strings.ToLower(strings.Fields(text)[1]); slices.Index(numbers, first)+10 != len(words) {
		t.Errorf("the Makefile says it has %s words, and has %d", first, len(words))
	}
	var rules []string
	for _, m := range regexp.MustCompile(`(?m)^([\w-]+): ##`).FindAllStringSubmatch(text, -1) {
		rules = append(rules, m[1])
	}
	if !slices.Equal(rules, words) {
		t.Errorf("the rules are %v, and .PHONY has %v", rules, words)
	}
	nightly := regexp.MustCompile(`target: \[(.*)\]`).FindStringSubmatch(readText(t, ".github/workflows/nightly.yml"))[1]
	for _, word := range strings.Split(nightly, ", ") {
		if !slices.Contains(words, word) {
			t.Errorf("nightly.yml asks for %q, which the Makefile does not have", word)
		}
	}
}
