// Package webhook notifies services about the runs of a store: when one waits for a person, has
// ended or has failed. It sends signed messages of Standard Webhooks 1.0, or messages for Slack and
// compatible services.
//
//	s := webhook.Start(ctx, webhook.Options{Store: store, Hooks: hooks, Page: page})
//	defer s.Close()
//
// The record of runs is the queue: messages are made from its events, and the store also records
// the progress of each hook (record.go). So no message is lost when the server ends, and each is
// sent again until the service accepts it (send.go). If a message is sent twice because its server
// was killed in between, it has the same id. If several servers share a store, one of them notifies
// a hook.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/lang/yaml"
)

// A Hook is a service that gets messages.
type Hook struct {
	Name string
	// URL is secret, since some services authenticate their callers by it.
	URL string
	// Keys sign the messages. While a key is being replaced there are two, and both sign.
	Keys [][]byte
	// Events are the kinds of messages that are sent; nil is all.
	Events []Kind
	Slack  bool // the messages are for Slack
	// AllowPrivate allows addresses that are not of the public internet, and URLs without TLS.
	AllowPrivate bool
}

// A Kind is a kind of messages.
type Kind string

// The kinds.
const (
	Question Kind = "run.question" // a call, or the plan as a whole, waits for a person
	Ended    Kind = "run.ended"    // the run has ended, and not badly
	Failed   Kind = "run.failed"   // the run has failed, or is undone in part only
)

// maxDepth is the maximum depth of a file of hooks.
const maxDepth = 10

// Read reads a file of hooks, {"webhooks": [{"name": …, "url": …}]}, in JSON or YAML. Secrets are
// in environment variables that the file names and lookup returns.
func Read(file string, text []byte, lookup func(string) (string, bool)) ([]*Hook, error) {
	var f struct {
		Webhooks []entry `json:"webhooks"`
	}
	if err := yaml.Decode(file, text, maxDepth, &f); err != nil {
		return nil, err
	}
	if len(f.Webhooks) == 0 {
		return nil, fmt.Errorf(`%s has no webhooks; it is {"webhooks": [{"name": "NAME", "url": "https://..."}]}`, file)
	}
	var all []*Hook
	for i, e := range f.Webhooks {
		h, err := e.hook(lookup)
		if err == nil && slices.ContainsFunc(all, func(o *Hook) bool { return o.Name == h.Name }) {
			err = fmt.Errorf("there are two with this name")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: webhook %d (%q): %w", file, i+1, e.Name, err)
		}
		all = append(all, h)
	}
	return all, nil
}

// entry is a hook as its file has it.
type entry struct {
	Name         string   `json:"name"`
	URL          string   `json:"url"`
	URLFrom      string   `json:"urlFrom"`     // an environment variable
	SecretsFrom  []string `json:"secretsFrom"` // environment variables
	Events       []Kind   `json:"events"`
	Format       string   `json:"format"` // standard or slack
	AllowPrivate bool     `json:"allowPrivate"`
}

func (e *entry) hook(lookup func(string) (string, bool)) (*Hook, error) {
	h := &Hook{Name: e.Name, URL: e.URL, Events: e.Events, Slack: e.Format == "slack", AllowPrivate: e.AllowPrivate}
	if h.Name == "" || len(h.Name) > 60 || strings.Trim(h.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return nil, fmt.Errorf("its name has to be of small letters, digits, - and _: the record has it")
	}
	for _, kind := range h.Events {
		if kind != Question && kind != Ended && kind != Failed {
			return nil, fmt.Errorf("there is no event %q; the events are %s, %s and %s", kind, Question, Ended, Failed)
		}
	}
	if e.Format != "" && e.Format != "standard" && e.Format != "slack" {
		return nil, fmt.Errorf("its format %q is neither standard nor slack", e.Format)
	}
	if (e.URL == "") == (e.URLFrom == "") {
		return nil, fmt.Errorf("it has url or urlFrom, which names an environment variable")
	}
	if e.URLFrom != "" {
		var ok bool
		if h.URL, ok = lookup(e.URLFrom); !ok {
			return nil, fmt.Errorf("the environment variable %s is not set", e.URLFrom)
		}
	}
	u, err := url.Parse(h.URL)
	switch { // errors without the URL, which may be secret
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("its URL is no address as in https://api.example/hook")
	case u.Scheme == "http" && !h.AllowPrivate:
		return nil, fmt.Errorf("its URL has to begin with https: unless allowPrivate is set")
	case len(e.SecretsFrom) == 0 && !h.Slack:
		return nil, fmt.Errorf("secretsFrom is missing: it names environment variables with the keys that sign")
	}
	for _, name := range e.SecretsFrom {
		text, ok := lookup(name)
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), "whsec_"))
		switch {
		case !ok:
			return nil, fmt.Errorf("the environment variable %s is not set", name)
		case err != nil || len(key) < 24 || len(key) > 64:
			return nil, fmt.Errorf("%s is not whsec_ and 24 to 64 bytes in base64", name)
		}
		h.Keys = append(h.Keys, key)
	}
	return h, nil
}

// sign returns the signatures of a message that is sent now.
func (h *Hook) sign(id string, now time.Time, body []byte) string {
	var all []string
	for _, key := range h.Keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", id, strconv.FormatInt(now.Unix(), 10))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}

func (h *Hook) wants(k Kind) bool { return h.Events == nil || slices.Contains(h.Events, k) }
