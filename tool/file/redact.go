package file

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

const (
	leastSecret = 4               // bytes: what is shorter is in every other text, and no secret
	redacted    = "•••"           // what stands for a secret
	quotation   = "it had said: " // where a quotation begins that does not begin the message
)

// discreet is an activity in whose errors no secret is: programs and servers quote what
// they were given, and errors go into records and back to models. Results stay as they
// are: they are the tool's to make.
type discreet struct {
	next  tool.Activity
	forms []string // of the secrets, the longest first
	whole *strings.Replacer
}

// withoutSecrets is the activity with errors that hold none of these.
func withoutSecrets(next tool.Activity, secrets []string) tool.Activity {
	var forms []string
	for _, s := range secrets {
		forms = append(forms, formsOf(s)...)
	}
	forms = slices.DeleteFunc(forms, func(s string) bool { return len(s) < leastSecret })
	if len(forms) == 0 {
		return next
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	forms = slices.Compact(forms)
	var pairs []string
	for _, s := range forms {
		pairs = append(pairs, s, redacted)
	}
	return &discreet{next, forms, strings.NewReplacer(pairs...)}
}

// formsOf are the ways in which messages write a text: as it is, in JSON, in a URL,
// and quoted by us.
func formsOf(s string) []string {
	web, _ := json.Marshal(s) // with < as \u003c
	forms := []string{s, driver.Printable([]byte(s)), unquoted(string(quote(s))), unquoted(string(web))}
	for _, form := range forms {
		forms = append(forms, unquoted(strconv.Quote(form)))
	}
	return append(forms, url.QueryEscape(s), url.PathEscape(s))
}

// unquoted is a text without its first and last byte.
func unquoted(s string) string { return s[1 : len(s)-1] }

// Call is the activity's, but for its error.
func (d *discreet) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	res, err := d.next.Call(ctx, req)
	var e *tool.Error
	if errors.As(err, &e) {
		clean := *e
		clean.Code, clean.Message = d.redact(e.Code), d.redact(e.Message)
		err = &clean
	}
	return res, err
}

// redact is a message without secrets. What a message quotes may be cut, so that it
// begins or ends within one.
func (d *discreet) redact(message string) string {
	return d.cutEnd(d.cutStart(d.whole.Replace(message)))
}

// cutStart redacts the end of a secret where a quotation begins.
func (d *discreet) cutStart(message string) string {
	start := 0
	if i := strings.Index(message, quotation); i >= 0 {
		start = i + len(quotation)
	}
	said, n := message[start:], 0
	for _, form := range d.forms {
		for k := len(form) - 1; k >= leastSecret && k > n; k-- {
			if strings.HasPrefix(said, form[len(form)-k:]) {
				n = k
			}
		}
	}
	if n == 0 {
		return message
	}
	return message[:start] + redacted + said[n:]
}

// cutEnd redacts the beginning of a secret where a quotation ends.
func (d *discreet) cutEnd(message string) string {
	said, n := strings.TrimRight(message, ` …"`), 0
	for _, form := range d.forms {
		for k := len(form) - 1; k >= leastSecret && k > n; k-- {
			if strings.HasSuffix(said, form[:k]) {
				n = k
			}
		}
	}
	if n == 0 {
		return message
	}
	return said[:len(said)-n] + redacted + message[len(said):]
}
