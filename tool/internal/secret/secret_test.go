package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool/internal/secret"
)

// hard is a secret that every encoding writes in another way.
const hard = "s€cr3t<\"/+&\\%'top>"

// written returns the ways in which a secret is written.
func written(s string) map[string]string {
	inJSON, _ := json.Marshal(s)
	twice, _ := json.Marshal(string(inJSON))
	b64 := base64.StdEncoding.EncodeToString
	return map[string]string{
		"plain": s, "JSON": string(inJSON), "JSON in JSON": string(twice), "Go": strconv.Quote(s), "ASCII": strconv.QuoteToASCII(s),
		"query": url.QueryEscape(s), "path": url.PathEscape(s), "HTML": html.EscapeString(s),
		"lower query": strings.NewReplacer("%3C", "%3c", "%2F", "%2f", "%2B", "%2b", "%5C", "%5c", "%3E", "%3e", "%E2", "%e2", "%AC", "%ac").Replace(url.QueryEscape(s)),
		"hex":         hex.EncodeToString([]byte(s)),
		"base64":      b64([]byte(s)),
		"base64, 1":   b64([]byte("a:" + s + ":z")),
		"base64, 2":   b64([]byte("ab:" + s + "yz")),
		"base64, 3":   b64([]byte("abc:" + s)),
		"base64 URL":  base64.RawURLEncoding.EncodeToString([]byte("u:" + s)),
	}
}

func TestText(t *testing.T) {
	r := secret.New(hard, "abc")
	for name, text := range written(hard) {
		got := r.Text("before " + text + " after abc")
		if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after abc") || !strings.Contains(got, "•••") || len(got) > len("before ••• after abc")+12 {
			t.Errorf("%s: %q of %q", name, got, text)
		}
	}
	for _, text := range []string{"", "nothing", "s€cr3", "{}"} {
		if got := r.Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestPartsOfASecret(t *testing.T) {
	key := "-----BEGIN KEY-----\nMIIEvQIBADAN\nab\n-----END KEY-----\n"
	for _, c := range []struct{ secret, said, want string }{
		{"Bearer t0ken!", "you sent t0ken!", "you sent •••"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("ada:pa55word")), "hello ada, not pa55word", "hello ada, not •••"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("ada:pa55word")), "YWRhOnBhNTV3b3Jk", "•••"},
		{"correct horse", "a horse", "a horse"},
		{key, "MIIEvQIBADAN, ab", "•••, ab"},
	} {
		if got := secret.New(c.secret).Text(c.said); got != c.want {
			t.Errorf("%q: %q, want %q", c.secret, got, c.want)
		}
	}
}

func TestValue(t *testing.T) {
	r := secret.New("s3cr/t", "12345")
	for value, want := range map[string]string{
		`{"a": ["s3cr/t"] }`:                `{"a": ["•••"] }`,
		`"\u00733cr\/t\u0021"`:              `"•••!"`,
		`{"s3cr/t":1.50,"b":"s3cr\u002ft"}`: `{"•••":1.50,"b":"•••"}`,
		`[12345, 123456, 1.50e3,"x12345y"]`: `["•••", 123456, 1.50e3,"x•••y"]`,
		`"{\"a\":\"s3cr/t\"}"`:              `"{\"a\":\"•••\"}"`,
		`"a\u00e9\ud800"`:                   `"a\u00e9\ud800"`,
		` null `:                            ` null `,
		``:                                  ``,
		`not JSON: s3cr/t`:                  `not JSON: •••`,
		`{"a":"s3cr/t`:                      `{"a":"•••`,
	} {
		given := strings.Clone(value)
		if got := r.Value(json.RawMessage(value)); string(got) != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
		if given != value {
			t.Errorf("%s was changed", given)
		}
	}
}

// Of secrets that overlap, each other or themselves, nothing is left.
func TestSecretsThatOverlap(t *testing.T) {
	r := secret.New("abcdefgh", "efghijkl", "xabcd", "q-q-q-", "longer abcdefgh one")
	for text, want := range map[string]string{
		"abcdefghijkl":                     "•••",
		"(xabcdefghijkl)":                  "(•••)",
		"longer abcdefgh one":              "•••",
		"abcdefgh efghijkl":                "••• •••",
		"abcdefghxabcd":                    "••••••",
		"q-q-q-q-q":                        "•••q",
		"q-q-q-q-q-q-":                     "•••",
		"xabcd and abcdefghijklm efghijkl": "••• and •••m •••",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := string(r.Value(json.RawMessage(`["` + text + `"]`))); got != `["`+want+`"]` {
			t.Errorf("%q as a value: %s, want %s", text, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	r := secret.New("12345", "87654321")
	for value, want := range map[string]string{
		`[12345,123456,-12345,12345.0]`:                     `["•••",123456,-12345,12345.0]`,
		`[87654321,-87654321,87654321.0,187654321,8765432]`: `["•••","•••","•••","•••",8765432]`,
		`{"a":87654321e2,"b":[true,null,1.5e-7]}`:           `{"a":"•••","b":[true,null,1.5e-7]}`,
	} {
		if got := string(r.Value(json.RawMessage(value))); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

func TestNothingToLookFor(t *testing.T) {
	r := secret.New("", "abc")
	if r != nil || r.Text("abc") != "abc" || r.Message("abc") != "abc" || string(r.Value(json.RawMessage(`"abc"`))) != `"abc"` {
		t.Error("a short text is taken for a secret")
	}
	for _, blank := range []string{"\t\t\t\t", "    ", " \x00\x01a "} {
		if got := secret.New(blank).Text("nothing of it, a b"); got != "nothing of it, a b" {
			t.Errorf("%q: %q", blank, got)
		}
	}
}

// Whatever stands around it and however a secret is escaped, a value does not say it.
func FuzzValue(f *testing.F) {
	for _, text := range written(hard) {
		f.Add(hard, text, "x")
	}
	f.Add("12345", "12345", "")
	f.Fuzz(func(t *testing.T, s, before, after string) {
		r := secret.New(s)
		if r == nil || strings.Contains("•••", s) || strings.Contains(s, "•") {
			return
		}
		value, err := json.Marshal(map[string]any{"a": before + s + after, "b": []string{s}})
		if err != nil || strings.ToValidUTF8(s, "") != s {
			return
		}
		clean := r.Value(value)
		var said map[string]any
		if err := json.Unmarshal(clean, &said); err != nil {
			t.Fatalf("%q becomes %q: %v", value, clean, err)
		}
		if a, _ := said["a"].(string); strings.Contains(a, s) {
			t.Errorf("%q is in %q", s, clean)
		}
	})
}

func BenchmarkValue(b *testing.B) {
	r := secret.New(hard, "another-secret-that-is-longer")
	value := json.RawMessage(`[` + strings.Repeat(`{"name":"a value without any","n":12.50},`, 10_000) + `null]`)
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		r.Value(value)
	}
}

// Names that come out the same stay two names: JSON with one of them twice is none.
func TestNames(t *testing.T) {
	r := secret.New("first-secret", "second-secret")
	for value, want := range map[string]string{
		`{"first-secret":1,"b":2}`:                             `{"•••":1,"b":2}`,
		`{"first-secret":1, "second-secret" :2,"c":"x"}`:       `{"••• 1":1, "••• 2" :2,"c":"x"}`,
		`{"first-secret":{"a":"first-secret"},"•••":1}`:        `{"••• 1":{"a":"•••"},"•••":1}`,
		`{"first-secret":1,"second-secret":2,"••• 1":"three"}`: `"•••"`,
	} {
		if got := string(r.Value(json.RawMessage(value))); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}
