package plc_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityPage looks for the tests that SECURITY.md names: each promise has at least one, and
// each of them exists.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	there := testNames(t)
	_, promises, _ := strings.Cut(string(page), "\n## Promises\n")
	promises, _, found := strings.Cut(promises, "\n## Not promised\n")
	if !found {
		t.Fatal("the page has no section of promises, or none of what is not promised")
	}
	name := regexp.MustCompile("`((?:Test|Fuzz)[^`]*)`")
	n := 0
	for line := range strings.Lines(promises) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 || strings.Contains(cells[2], "tests") || strings.Contains(cells[2], "---") {
			continue
		}
		n++
		names := name.FindAllStringSubmatch(cells[2], -1)
		if len(names) == 0 {
			t.Errorf("no test shows that%s", cells[1])
		}
		for _, m := range names {
			if !there[m[1]] {
				t.Errorf("there is no test %s, which is to show that%s", m[1], cells[1])
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d promises were read", n)
	}
}

// TestNamesOfTests looks for the tests that CI and the Makefile name: "go test -run" is content with
// a name that no test has.
func TestNamesOfTests(t *testing.T) {
	there := testNames(t)
	for _, file := range []string{".ci/run", "Makefile"} {
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(readText(t, file), -1) {
			if !there[name] {
				t.Errorf("%s names %s, which is no test", file, name)
			}
		}
	}
}

// testNames are the names of all tests and fuzz targets of the module, and of the scripts of the
// command as TestScripts/NAME.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				all[m[1]] = true
			}
			return err
		case strings.HasSuffix(path, ".txtar") && strings.HasSuffix(filepath.Dir(path), "cmd/plc/testdata/script"):
			all["TestScripts/"+strings.TrimSuffix(filepath.Base(path), ".txtar")] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
