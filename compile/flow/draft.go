package flow

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// Draft returns a first policy for the tools of a catalogue, as a file in YAML: each tool gives the
// worst, and takes the least, that its effects allow. The levels are those of the policy that
// it extends; nil if there is none. Against the catalogue the file has no findings.
func Draft(cat *tool.Catalogue, extends *Policy) []byte {
	base := label.New()
	if extends != nil {
		base = extends.said
	}
	d := &drafter{base: base}
	d.printf(`# A first policy, made of what the tools declare: docs/flow.md says what each member means.
# What nobody has declared is taken to be the worst. Loosen a line when you know better.
given:
  input: %s # who fills it? If only the user does: {trust: user, secrecy: internal}
`, d.label(base.OfAnything()))
	head := "tools:\n"
	for t := range cat.Tools() {
		if t.Source == tool.BuiltIn || t.Definition.Effects.Pure == tool.Yes {
			continue // it gives only what it is given
		}
		d.printf("%s", head)
		head = ""
		d.tool(t.Definition)
	}
	return d.out.Bytes()
}

// drafter writes a first policy.
type drafter struct {
	out  bytes.Buffer
	base *label.Policy
}

func (d *drafter) printf(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

// label returns the levels of a label as the file has them.
func (d *drafter) label(l label.Label) string {
	return fmt.Sprintf("{trust: %s, secrecy: %s}", word(d.base.Trust.Name(l.Trust)), word(d.base.Secrecy.Name(l.Secrecy)))
}

// tool writes the entry of a tool.
func (d *drafter) tool(def *tool.Definition) {
	e, name := def.Effects, def.Name
	if strings.HasPrefix(name, "@") { // as which it would be an annotation
		name = "*" + name[1:]
	}
	gives, why := d.base.OfAnything(), "nobody says who can choose it"
	switch e.OpenWorld {
	case tool.Yes:
		why = "of the open world: anybody can choose it"
	case tool.Undeclared:
		why = "perhaps of the open world: anybody can choose it"
	}
	if def.Data != (tool.Data{}) {
		gives = (&Policy{said: d.base}).hinted(def.Data)
		why += "; its definition says how secret it is"
	}
	d.printf("  %s:\n    gives: %s # %s\n", word(name), d.label(gives), why)
	if def.Closed && len(def.Param) == 0 {
		return
	}
	var bounds, reasons []string
	if !readsOnly(e) {
		bounds = append(bounds, "trust: user")
		reasons = append(reasons, changeWords(e))
	}
	if e.OpenWorld != tool.No {
		bounds = append(bounds, "secrecy: public")
		reasons = append(reasons, map[tool.Hint]string{
			tool.Yes:        "others see them",
			tool.Undeclared: "others may see them",
		}[e.OpenWorld])
	}
	if len(bounds) > 0 {
		d.printf("    takes: {\"*\": {%s}} # %s\n", strings.Join(bounds, ", "), strings.Join(reasons, "; "))
	}
}

// changeWords returns what a tool that is not read-only may do to the world.
func changeWords(e tool.Effects) string {
	switch {
	case e.Destructive == tool.Yes:
		return "it may destroy something"
	case e.ReadOnly == tool.No && e.Destructive == tool.No:
		return "it changes the world"
	case e.ReadOnly == tool.No:
		return "it changes the world, and may destroy something"
	}
	return "nobody says that it only reads"
}

// yamlBreaks escapes what ends a line in YAML 1.1 and needs no escape in JSON.
var yamlBreaks = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// plainWord matches words that YAML and people read as they stand.
var plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// word returns a name as YAML has it: in double quotes, unless it can't be read as anything else.
func word(name string) string {
	if plainWord.MatchString(name) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(name)) {
		return name
	}
	return yamlBreaks.Replace(jsonscan.Quote(name))
}
