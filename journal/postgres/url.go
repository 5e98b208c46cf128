package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/plc-lang/plc/journal"
)

// IsURL reports whether the name of a store is the URL of a Postgres database.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// Name returns a URL without its password and its settings, for messages: the user, the hosts, the
// database and, if it is not the default one, the schema.
func Name(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "postgres://…"
	}
	name := url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}
	if user := u.User.Username(); user != "" {
		name.User = url.User(user)
	}
	if schema := u.Query().Get("search_path"); schema != "" {
		name.RawQuery = url.Values{"search_path": {schema}}.Encode()
	}
	return name.String()
}

// HasPassword reports whether a URL has a password in it.
func HasPassword(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return strings.Contains(text, "@")
	}
	_, has := u.User.Password()
	return has || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// WithoutPassword returns a URL, or the name of a file, unchanged except for passwords.
func WithoutPassword(text string) string {
	if !IsURL(text) || !HasPassword(text) {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return Name(text)
	}
	q := u.Query()
	q.Del("password")
	q.Del("sslpassword")
	u.User, u.RawQuery = url.User(u.User.Username()), q.Encode()
	return u.String()
}

// defaultSchema is the schema unless the URL names one.
const defaultSchema = "plc"

// An address holds the parts of a URL.
type address struct {
	name   string // for messages
	config *pgconn.Config
	schema string
}

// parse parses a URL. Its error contains nothing that may be a password.
func parse(text string) (*address, error) {
	a := &address{name: Name(text)}
	fail := func(err error) (*address, error) {
		return nil, &journal.Error{Path: a.name, Fault: journal.Unusable, Err: err, Cure: "write it as postgres://USER@HOST:PORT/DATABASE"}
	}
	if _, err := url.Parse(text); err != nil || !IsURL(text) {
		return fail(errors.New("it is not the URL of a Postgres database"))
	}
	var err error
	if a.config, err = pgconn.ParseConfig(text); err != nil {
		if _, err = pgconn.ParseConfig(WithoutPassword(text)); err == nil {
			err = errors.New("its password can't be used")
		}
		return fail(err)
	}
	a.schema = defaultSchema
	if schema, ok := a.config.RuntimeParams["search_path"]; ok {
		a.schema = schema
		delete(a.config.RuntimeParams, "search_path")
	}
	if a.schema == "" || len(a.schema) > 63 || strings.ContainsAny(a.schema, "\",\x00$") || strings.HasPrefix(a.schema, "pg_") {
		return fail(fmt.Errorf("search_path has to be the name of one schema, not %q", a.schema))
	}
	if a.config.RuntimeParams["application_name"] == "" {
		a.config.RuntimeParams["application_name"] = "plc"
	}
	return a, nil
}

// secrets returns the strings that must not be in a message.
func (a *address) secrets() (all []string) {
	add := func(s string) {
		if s != "" {
			all = append(all, s, url.QueryEscape(s), url.PathEscape(s))
		}
	}
	add(a.config.Password)
	return all
}
