package diag

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// SARIFOptions are the options of WriteSARIF. The zero value stands for a plc of unknown version.
type SARIFOptions struct {
	Version string // of plc, like "1.2.0"; "" leaves it out
}

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	homeURI     = "https://github.com/plc-lang/plc"
	codeURI     = homeURI + "/blob/main/docs/codes/" // + PLC302.md
)

// WriteSARIF writes the findings as a SARIF 2.1.0 log of one run, for code-scanning services. The
// log has a rule for each code that occurs, related places (the path of a value is also a code
// flow) and fixes. Columns count code points, like ours; file names become URIs, and relative names
// stay relative. It streams, with one result on each line. A nil opts stands for the defaults; the
// error is w's.
func WriteSARIF(w io.Writer, l List, opts *SARIFOptions) error {
	if opts == nil {
		opts = &SARIFOptions{}
	}
	rules, index := sarifRules(l)
	head, err := marshal(sarifLog{
		Schema: sarifSchema, Version: "2.1.0",
		Runs: []sarifRun{{
			Tool:            sarifTool{sarifDriver{"plc", opts.Version, homeURI, rules}},
			DefaultEncoding: "utf-8", ColumnKind: "unicodeCodePoints", Results: []struct{}{},
		}},
	})
	if err != nil {
		return err
	}
	// The results come last in the log, so its end is kept and written after them.
	const end = "]}]}"
	out := bufio.NewWriter(w)
	out.Write(bytes.TrimSuffix(head, []byte(end)))
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for i := range l {
		separator := "\n"
		if i > 0 {
			separator = ","
		}
		out.WriteString(separator)
		if err := enc.Encode(sarifOf(l[i].view(), index)); err != nil {
			return err
		}
	}
	out.WriteString(end + "\n")
	return out.Flush()
}

// sarifRules returns the rules of the codes that occur, in order of the codes, and the index of
// each.
func sarifRules(l List) ([]sarifRule, map[Code]int) {
	index := make(map[Code]int)
	for i := range l {
		index[l[i].Code] = 0
	}
	codes := make([]Code, 0, len(index))
	for c := range index {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	rules := make([]sarifRule, len(codes))
	for i, c := range codes {
		index[c] = i
		rules[i] = sarifRule{ID: c.String()}
		if p, ok := c.page(); ok {
			rules[i] = sarifRule{
				ID: c.String(), Name: p.Name, Short: &sarifText{p.Summary}, Full: &sarifText{p.Meaning},
				Help: &sarifText{p.Text()}, HelpURI: codeURI + c.String() + ".md",
				Default: &sarifConfiguration{p.Severity.sarifLevel()},
			}
		}
	}
	return rules, index
}

func (s Severity) sarifLevel() string {
	if s == Info {
		return "note"
	}
	return s.String()
}

func sarifOf(v view, rules map[Code]int) sarifResult {
	r := sarifResult{
		RuleID: v.Code.String(), RuleIndex: rules[v.Code], Level: v.Severity.sarifLevel(),
		Message: sarifMessage(v.Message),
	}
	location := sarifLocation{Physical: v.place.sarif()}
	if v.Call != "" {
		location.Logical = append(location.Logical, sarifLogical{Name: v.Call, Kind: "call"})
	}
	if v.Workflow != "" {
		location.Logical = append(location.Logical, sarifLogical{Name: v.Workflow, Kind: "workflow"})
	}
	if v.Pointer != "" {
		location.Logical = append(location.Logical, sarifLogical{FullName: v.Pointer, Kind: "value"})
	}
	if location.Physical != nil || location.Logical != nil {
		r.Locations = []sarifLocation{location}
	}
	for i, n := range v.Related {
		message := sarifMessage(n.Message)
		r.Related = append(r.Related, sarifLocation{ID: i + 1, Physical: n.place.sarif(), Message: &message})
	}
	if v.Way {
		r.Flows = []sarifCodeFlow{{[]sarifThreadFlow{{v.way()}}}}
	}
	if v.Fix != nil && v.place != nil && len(v.Fix.Edits) > 0 {
		r.Fixes = []sarifFix{v.Fix.sarif(v.File)}
	}
	return r
}

// way returns the path of a value: the related places of a finding, and at the end its own place.
func (v *view) way() (all []sarifStep) {
	add := func(p *place, message string) {
		text := sarifMessage(message)
		all = append(all, sarifStep{sarifLocation{Physical: p.sarif(), Message: &text}})
	}
	for _, n := range v.Related {
		add(n.place, n.Message)
	}
	add(v.place, v.Message)
	return all
}

func (p *proposal) sarif(file string) sarifFix {
	c := sarifChange{Artifact: sarifArtifact{artifactURI(file)}}
	for _, e := range p.Edits {
		c.Replacements = append(c.Replacements, sarifReplacement{e.loc.region(), sarifText{e.Text}})
	}
	return sarifFix{sarifMessage(p.Message), []sarifChange{c}}
}

func (p *place) sarif() *sarifPhysical {
	if p == nil {
		return nil
	}
	return &sarifPhysical{sarifArtifact{artifactURI(p.File)}, p.loc.region()}
}

// region returns the span in lines, columns and bytes. Its end is one after the last character, as
// SARIF requires.
func (l Loc) region() sarifRegion {
	start, end := l.File.Position(int(l.Span.Start)), l.File.Position(int(l.Span.End))
	return sarifRegion{start.Line, start.Column, end.Line, end.Column, start.Offset, l.Span.Len()}
}

// artifactURI returns the URI reference for the name of a file.
func artifactURI(name string) string {
	if u, err := url.Parse(name); err == nil && strings.Contains(name, "://") {
		return u.String()
	}
	path := filepath.ToSlash(name)
	if !filepath.IsAbs(name) {
		return (&url.URL{Path: path}).String()
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimLeft(path, "/")}).String()
}

// sarifMessage returns a plain text message. It doubles braces, since single ones are placeholders
// (SARIF §3.11.5).
func sarifMessage(s string) sarifText {
	return sarifText{strings.ReplaceAll(strings.ReplaceAll(s, "{", "{{"), "}", "}}")}
}

// The parts of a SARIF log that plc writes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool            sarifTool  `json:"tool"`
		DefaultEncoding string     `json:"defaultEncoding"`
		ColumnKind      string     `json:"columnKind"`
		Results         []struct{} `json:"results"` // written one by one
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string              `json:"id"`
		Name    string              `json:"name,omitempty"`
		Short   *sarifText          `json:"shortDescription,omitempty"`
		Full    *sarifText          `json:"fullDescription,omitempty"`
		Help    *sarifText          `json:"help,omitempty"`
		HelpURI string              `json:"helpUri,omitempty"`
		Default *sarifConfiguration `json:"defaultConfiguration,omitempty"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
		Flows     []sarifCodeFlow `json:"codeFlows,omitempty"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifCodeFlow struct {
		Threads []sarifThreadFlow `json:"threadFlows"`
	}
	sarifThreadFlow struct {
		Steps []sarifStep `json:"locations"`
	}
	sarifStep struct {
		Location sarifLocation `json:"location"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		ID       int            `json:"id,omitempty"`
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
		ByteOffset  int `json:"byteOffset"`
		ByteLength  int `json:"byteLength"`
	}
	sarifLogical struct {
		Name     string `json:"name,omitempty"`
		FullName string `json:"fullyQualifiedName,omitempty"`
		Kind     string `json:"kind"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)
