package openapi

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool/http"
)

// Encoded returns the name and the password as HTTP's basic scheme encodes them. The result is as
// secret as they are.
func (c Credential) Encoded() string {
	return base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password))
}

// Scheme is a security scheme of a document.
type Scheme struct {
	Name  string
	Basic bool // it requires a name and a password, else a token
	Used  bool // the first alternative of an operation requires it
}

// Schemes returns the security schemes, in the order of the document.
func (d *Document) Schemes() []Scheme {
	used := map[string]bool{}
	for _, op := range d.operations {
		op.alternatives().Get("0").ForEach(func(name, _ gjson.Result) bool {
			used[name.Str] = true
			return true
		})
	}
	var all []Scheme
	d.schemes.ForEach(func(name, scheme gjson.Result) bool {
		basic := strings.EqualFold(d.follow(scheme).Get("scheme").Str, "basic")
		all = append(all, Scheme{name.Str, basic, used[name.Str]})
		return true
	})
	return all
}

// alternatives returns the security requirements of an operation.
func (op *operation) alternatives() gjson.Result {
	if own := op.raw.Get("security"); own.Exists() {
		return own
	}
	return op.doc.top["security"]
}

// credential is a secret and its place in a request.
type credential struct {
	in, name, value string
}

// credentials returns the credentials for the first of the operation's alternatives that can be
// satisfied. If there is none, missing has the schemes of the first alternative.
func (op *operation) credentials(given map[string]Credential) (all []credential, missing string) {
	alternatives := op.alternatives()
	met := !alternatives.IsArray() || len(alternatives.Array()) == 0
	alternatives.ForEach(func(_, need gjson.Result) bool {
		var found []credential
		var lacking []string
		need.ForEach(func(name, _ gjson.Result) bool {
			if c, ok := given[name.Str]; ok {
				found = append(found, op.doc.credential(name.Str, c))
			} else {
				lacking = append(lacking, name.Str)
			}
			return true
		})
		if len(lacking) > 0 {
			if missing == "" {
				missing = strings.Join(lacking, " and ")
			}
			return true
		}
		// The alternative {} needs no credentials; but a credential that is given should be used.
		if met = true; len(found) > len(all) {
			all = found
		}
		return len(all) == 0
	})
	if met {
		missing = ""
	}
	return all, missing
}

// credential returns the secret of a scheme and its place in requests.
func (d *Document) credential(name string, c Credential) credential {
	scheme := d.follow(member(d.schemes, name))
	switch {
	case scheme.Get("type").Str == "apiKey":
		return credential{scheme.Get("in").Str, scheme.Get("name").Str, c.Token}
	case strings.EqualFold(scheme.Get("scheme").Str, "basic"):
		return credential{"header", "Authorization", "Basic " + c.Encoded()}
	}
	return credential{"header", "Authorization", "Bearer " + c.Token}
}

// add adds the secret to a request.
func (c credential) add(m *http.Message) {
	switch c.in {
	case "query":
		m.Query = strings.TrimPrefix(m.Query+"&"+url.QueryEscape(c.name)+"="+url.QueryEscape(c.value), "&")
	case "cookie":
		addCookie(m, url.QueryEscape(c.name)+"="+url.QueryEscape(c.value))
	default:
		for name := range m.Header { // replaces a param of the same name, in any case
			if strings.EqualFold(name, c.name) {
				delete(m.Header, name)
			}
		}
		m.Header[c.name] = c.value
	}
}

func addCookie(m *http.Message, pair string) {
	m.Header["Cookie"] = strings.TrimPrefix(m.Header["Cookie"]+"; "+pair, "; ")
}
