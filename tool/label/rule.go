package label

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// ParseRule reads the text of a rule:
//
//	sum(pay.amount) <= 1000, distinct(pay.iban) <= 1, count(sendMail) <= input.most
//	deleteMail never after sendMail [where now.id == before.id]
//	approve before deploy
//	pay only if params.amount <= 100
//
// Tools are names, patterns or annotations (see Selector). A name that holds white space, a
// parenthesis or a quote is written in double quotes. The text after "where" and "only if" is CEL.
func ParseRule(text string) (Rule, error) {
	p := &ruleParser{text: text}
	p.space()
	for kind, name := range quantities {
		if rest, ok := strings.CutPrefix(p.rest(), name); ok && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "(") {
			p.at += len(name)
			return p.quantity(RuleKind(kind))
		}
	}
	return p.words()
}

var quantities = [...]string{Sum: "sum", Count: "count", Distinct: "distinct"}

// ruleParser reads a rule from left to right.
type ruleParser struct {
	text string
	at   int
}

func (p *ruleParser) rest() string { return p.text[p.at:] }

func (p *ruleParser) space() {
	for p.at < len(p.text) && strings.ContainsRune(" \t\r\n", rune(p.text[p.at])) {
		p.at++
	}
}

// take consumes a text, and reports whether it was there. A word must end where the word in the
// text does.
func (p *ruleParser) take(word string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest(), word)
	if !ok || word[0] >= 'a' && rest != "" && !strings.ContainsRune(" \t\r\n", rune(rest[0])) {
		return false
	}
	p.at += len(word)
	return true
}

// takeAll takes words with white space between them: all, or none.
func (p *ruleParser) takeAll(words ...string) bool {
	before := p.at
	for _, word := range words {
		if !p.take(word) {
			p.at = before
			return false
		}
	}
	return true
}

// found returns the next word, for a message.
func (p *ruleParser) found() string {
	p.space()
	word := p.rest()
	if i := strings.IndexAny(word, " \t\r\n"); i > 0 {
		word = word[:i]
	}
	if word == "" {
		return "the end"
	}
	return fmt.Sprintf("%q", word)
}

// name reads a name: a word, or a string in quotes.
func (p *ruleParser) name() (name string, quoted bool, err error) {
	p.space()
	if strings.HasPrefix(p.rest(), `"`) {
		d := json.NewDecoder(strings.NewReader(p.rest()))
		if err := d.Decode(&name); err != nil || name == "" {
			return "", true, errors.New("a name in quotes does not end, or is empty")
		}
		p.at += int(d.InputOffset())
		return name, true, nil
	}
	end := strings.IndexAny(p.rest(), " \t\r\n()<>=\"")
	if end < 0 {
		end = len(p.rest())
	}
	if end == 0 {
		return "", false, fmt.Errorf("expected the name of a tool, found %s", p.found())
	}
	name = p.rest()[:end]
	p.at += end
	return name, false, nil
}

// quantity reads the rest of a rule that begins with sum, count or distinct.
func (p *ruleParser) quantity(kind RuleKind) (Rule, error) {
	r := Rule{Kind: kind, Text: p.text}
	p.take("(")
	name, quoted, err := p.name()
	if err != nil {
		return r, err
	}
	r.Tools.Text = name
	if kind != Count {
		if r.Tools.Text, r.Param, err = p.param(name, quoted); err != nil {
			return r, err
		}
	}
	if !p.take(")") {
		return r, fmt.Errorf("expected ), found %s", p.found())
	}
	if !p.take("<=") {
		return r, fmt.Errorf("expected <= and a limit, found %s", p.found())
	}
	r.Most, err = amount(strings.TrimSpace(p.rest()))
	return r, err
}

// param splits "pay.amount", or reads the param after a tool in quotes.
func (p *ruleParser) param(name string, quoted bool) (tool, param string, err error) {
	if quoted {
		if !p.take(".") {
			return name, "", fmt.Errorf("expected a dot and a param after %q, found %s", name, p.found())
		}
		param, _, err = p.name()
		return name, param, err
	}
	if strings.HasSuffix(name, ".") && strings.HasPrefix(p.rest(), `"`) {
		param, _, err = p.name()
		return name[:len(name)-1], param, err
	}
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || i == len(name)-1 {
		return name, "", fmt.Errorf("expected a tool and its param, such as pay.amount, found %q", name)
	}
	return name[:i], name[i+1:], nil
}

// amount reads a limit.
func amount(text string) (Amount, error) {
	if path, ok := strings.CutPrefix(strings.TrimPrefix(text, "†"), "input."); ok {
		names := strings.Split(path, ".")
		for _, name := range names {
			if name == "" || strings.ContainsAny(name, " \t\r\n()[]\"") {
				return Amount{}, fmt.Errorf("%q is not a path of the input, such as input.most", text)
			}
		}
		return Amount{Input: names}, nil
	}
	if _, ok := Number(json.RawMessage(text)); !ok {
		return Amount{}, fmt.Errorf("expected a number or a path of the input after <=, found %q", text)
	}
	return Amount{Number: text}, nil
}

// words reads a rule that begins with tools.
func (p *ruleParser) words() (Rule, error) {
	r := Rule{Text: p.text}
	name, _, err := p.name()
	if err != nil {
		return r, err
	}
	switch {
	case p.takeAll("never", "after"):
		r.Kind, r.Tools.Text = Never, name
	case p.take("before"):
		r.Kind, r.Tools.Text = Before, name
	case p.takeAll("only", "if"):
		r.Kind, r.Tools.Text = OnlyIf, name
		r.If, err = p.condition()
		return r, err
	default:
		return r, fmt.Errorf(`expected "never after", "before" or "only if" after %q, found %s`, name, p.found())
	}
	if r.Other.Text, _, err = p.name(); err != nil {
		return r, err
	}
	if r.Kind == Never && p.take("where") {
		r.If, err = p.condition()
		return r, err
	}
	if p.space(); p.rest() != "" {
		return r, fmt.Errorf("unexpected text after the rule: %s", p.found())
	}
	return r, nil
}

func (p *ruleParser) condition() (*Condition, error) {
	text := strings.TrimSpace(p.rest())
	if text == "" {
		return nil, errors.New("expected a condition at the end")
	}
	return &Condition{Text: text}, nil
}

// Number returns the exact value of a JSON number; false if the text is no number, or has more
// digits than plans may have (plan-language §12).
func Number(v json.RawMessage) (*big.Rat, bool) {
	const maxDigits, maxExponent = 64, 400
	var n json.Number
	if len(v) == 0 || v[0] == '"' || len(v) > 2*maxDigits || json.Unmarshal(v, &n) != nil || n == "" {
		return nil, false
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(string(n)), "e"); ok {
		if e, ok := new(big.Int).SetString(exponent, 10); !ok || e.CmpAbs(big.NewInt(maxExponent)) > 0 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(string(n))
}
