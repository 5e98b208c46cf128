package crosscheck

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plc-lang/plc/schemas"
)

var (
	pairs  = flag.Int("pairs", 5_000, "how many pairs are made")
	values = flag.Int("values", 50, "how many values try to refute a Yes")
)

// table is how often which came of what.
type table struct {
	rows                  map[string]int
	words                 map[string]int // the keyword that CUE overlooked, when it was wrong
	yes, no, maybe, tried int
}

func newTable() *table { return &table{rows: map[string]int{}, words: map[string]int{}} }

const (
	agreeYes  = "both say yes"
	agreeNo   = "both say no"
	cueWrong  = "CUE says yes, and a value proves it wrong"
	cueMisses = "CUE says no, and no value is found that proves it"
	cueUnread = "CUE can't read one of the two"
	oursMaybe = "plc says maybe"
)

// compare asks both sides about a pair, and fails the test when plc is at fault.
func (c *table) compare(t *testing.T, m maker, from, to string) {
	narrow, err1 := newJudge(from)
	wide, err2 := newJudge(to)
	f, err3 := schemas.Compile([]byte(from), nil)
	g, err4 := schemas.Compile([]byte(to), nil)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return // it has to be a schema for everyone
	}
	a := schemas.Assignable(f, g, nil)
	switch a.Verdict {
	case schemas.Yes:
		c.yes++
		c.refute(t, m, from, to, narrow, wide)
	case schemas.No:
		c.no++
		if w := string(a.Witness); !narrow.admits(w) || wide.admits(w) {
			t.Errorf("%s\n⊄ %s: the library does not take %s for a witness", from, to, w)
		}
	case schemas.Maybe:
		c.maybe++
	}
	c.rows[c.row(a, askCUE(from, to))]++
}

func (c *table) row(a schemas.Answer, o opinion) string {
	switch {
	case a.Verdict == schemas.Maybe:
		return oursMaybe
	case o == unread:
		return cueUnread
	case a.Verdict == schemas.Yes && o == cueYes:
		return agreeYes
	case a.Verdict == schemas.No && o == cueNo:
		return agreeNo
	case o == cueNo:
		return cueMisses
	}
	c.words[keyword(a.To)]++
	return cueWrong
}

// keyword returns the last word of a pointer to what a value breaks: a keyword, or what
// stands at a name or an index, which is false.
func keyword(pointer string) string {
	path := strings.Split(pointer, "/")
	last := path[len(path)-1]
	_, err := strconv.Atoi(last)
	if err == nil || len(path) > 1 && path[len(path)-2] == "properties" {
		return "false"
	}
	return last
}

// refute looks for a value that the one schema admits and the other doesn't.
func (c *table) refute(t *testing.T, m maker, from, to string, narrow, wide judge) {
	for i := range *values {
		var like any
		if err := json.Unmarshal([]byte([]string{from, to}[i%2]), &like); err != nil {
			t.Fatal(err)
		}
		v := text(m.value(like, 4))
		if !narrow.admits(v) {
			continue
		}
		c.tried++
		if !wide.admits(v) {
			t.Errorf("%s\n⊆ %s\nis said, but %s refutes it", from, to, v)
			return
		}
	}
}

func (c *table) log(t *testing.T) {
	var b strings.Builder
	total := c.yes + c.no + c.maybe
	for _, row := range []string{agreeYes, agreeNo, cueWrong, cueMisses, cueUnread, oursMaybe} {
		fmt.Fprintf(&b, "%7d  %5.2f %%  %s\n", c.rows[row], 100*float64(c.rows[row])/float64(max(1, total)), row)
	}
	t.Logf("%d questions; plc: yes %d, no %d, maybe %d; %d values met the narrower schema of a yes\n%s", total, c.yes, c.no, c.maybe, c.tried, &b)
	if len(c.words) > 0 {
		words := slices.SortedFunc(maps.Keys(c.words), func(a, b string) int { return c.words[b] - c.words[a] })
		b.Reset()
		for _, w := range words {
			fmt.Fprintf(&b, " %s %d", w, c.words[w])
		}
		t.Logf("what CUE overlooks:%s", &b)
	}
	if c.yes == 0 || c.no == 0 || c.rows[agreeYes] == 0 || c.rows[agreeNo] == 0 || c.tried == 0 {
		t.Error("nothing was compared")
	}
}

func TestMadePairs(t *testing.T) {
	c := newTable()
	for seed := range *pairs {
		m := newMaker(uint64(seed))
		from, to := m.pair()
		c.compare(t, m, text(from), text(to))
		c.compare(t, m, text(to), text(from))
	}
	c.log(t)
	if 100*c.maybe > c.yes+c.no {
		t.Errorf("plc says maybe %d times", c.maybe)
	}
}

// Every two schemas of one file of the official suite.
func TestSuitePairs(t *testing.T) {
	files, err := filepath.Glob("../schemas/testdata/suite/draft2020-12/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no suite", err)
	}
	c := newTable()
	for _, file := range files {
		list := suiteSchemas(t, file)
		for i, from := range list {
			for j, to := range list {
				c.compare(t, newMaker(uint64(i*len(list)+j)), from, to)
			}
		}
	}
	c.log(t)
}

func suiteSchemas(t *testing.T, file string) (list []string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Schema json.RawMessage }
	if err := json.Unmarshal(content, &cases); err != nil {
		t.Fatal(file, err)
	}
	for _, c := range cases {
		list = append(list, string(c.Schema))
	}
	return list
}
