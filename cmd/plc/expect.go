package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// expects returns the value of --expect, which is JSON, or else a string.
func expects(flag string) json.RawMessage {
	if jsonscan.Check([]byte(flag), jsonscan.Limits{}) != nil {
		return quote(flag)
	}
	return jsonscan.Compact(nil, []byte(flag))
}

// meets returns an error if a completed run did not give the expected value.
func (env *environment) meets(f *runFlags, l *loaded, res *exec.Result) error {
	got, err := jsonscan.Marshal(gave(l, res))
	if err != nil {
		return err
	}
	want := expects(f.expect)
	if sameValue(got, want, f.within) {
		return nil
	}
	env.complain(fmt.Errorf("the run gave %s, and %s was expected", cut(string(got), maxColumns), cut(string(want), maxColumns)))
	return exit(exitFailed)
}

// maxColumns is the number of columns of a value that are shown on one line.
const maxColumns = 200

// tolerance is the value of --expect-within: a number of any length.
type tolerance struct{ n **big.Rat }

func (t tolerance) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64) // bounds the size of the fraction
	n, ok := new(big.Rat).SetString(text)
	if err != nil || !ok || f < 0 {
		return errors.New("it is a number, and not less than 0")
	}
	*t.n = n
	return nil
}

func (t tolerance) String() string { return "" } // the help shows no default

func (t tolerance) Type() string { return "float" }

// sameValue reports whether two JSON values are equal, whatever the order of members. Numbers are
// equal if they differ by no more than within; if that is nil, if they are equal after rounding to
// the decimals that are wanted, or to a float64.
func sameValue(got, want []byte, within *big.Rat) bool {
	a, errA := decoded(got)
	b, errB := decoded(want)
	return errors.Join(errA, errB) == nil && same(a, b, within)
}

func decoded(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v)
}

func same(got, want any, within *big.Rat) bool {
	switch want := want.(type) {
	case json.Number:
		n, ok := got.(json.Number)
		if within == nil {
			return ok && sameNumber(n.String(), want.String())
		}
		return ok && isNear(n, want, within)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i := range want {
			if !same(list[i], want[i], within) {
				return false
			}
		}
		return true
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok || len(object) != len(want) {
			return false
		}
		for name, value := range want {
			if member, ok := object[name]; !ok || !same(member, value, within) {
				return false
			}
		}
		return true
	}
	return got == want
}

// isNear reports whether two numbers differ by no more than within.
func isNear(got, want json.Number, within *big.Rat) bool {
	if got == want {
		return true
	}
	_, errA := got.Float64()
	_, errB := want.Float64()
	if errA != nil || errB != nil {
		return false // fractions of such numbers may be huge
	}
	a, okA := new(big.Rat).SetString(got.String())
	b, okB := new(big.Rat).SetString(want.String())
	return okA && okB && a.Sub(a, b).Abs(a).Cmp(within) <= 0
}

func sameNumber(got, want string) bool { return sameRounded(got, want) || sameFloat(got, want) }

// sameFloat reports whether two numbers are the same float64. One of them may have fewer digits
// than the other, since programs print floats with the fewest digits that identify them.
func sameFloat(got, want string) bool {
	a, errA := strconv.ParseFloat(got, 64)
	b, errB := strconv.ParseFloat(want, 64)
	const digits = 15 // every float64 keeps this many; a number with fewer is exact
	return errA == nil && errB == nil && a == b && strings.ContainsAny(want, ".eE") && len(strings.TrimLeft(want, "-0.")) > digits
}

// sameRounded reports whether a number is another after rounding to its decimals.
func sameRounded(got, want string) bool {
	if strings.ContainsAny(got+want, "eE") { // fractions of such numbers may be huge
		a, _, errA := big.ParseFloat(got, 10, 256, big.ToNearestEven)
		b, _, errB := big.ParseFloat(want, 10, 256, big.ToNearestEven)
		return errA == nil && errB == nil && a.Cmp(b) == 0
	}
	r, ok := new(big.Rat).SetString(got)
	if !ok {
		return false
	}
	_, decimals, _ := strings.Cut(want, ".")
	w, _ := new(big.Rat).SetString(want)
	rounded, _ := new(big.Rat).SetString(r.FloatString(len(decimals)))
	return rounded.Cmp(w) == 0
}
