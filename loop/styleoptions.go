package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/spell"
)

// ReadOptions reads the options of a style, a JSON object, into a struct. An option that the struct
// does not have is an error that lists those that it has.
func ReadOptions(raw []byte, into any) error {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) == nil { // else the error is below
		known := optionNames(reflect.TypeOf(into).Elem())
		for _, name := range sortedKeys(given) {
			if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
				return NoOption(name, known)
			}
		}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind them")
	}
	return nil
}

// NoOption returns the error of an option that is none of the known ones.
func NoOption(name string, known []string) error {
	near, ok := spell.Nearest(name, slices.Values(known))
	if !ok {
		return fmt.Errorf("there is no option %q; there are %s", name, strings.Join(known, ", "))
	}
	return fmt.Errorf("there is no option %q; did you mean %q? There are %s", name, near, strings.Join(known, ", "))
}

// optionNames returns the names of the fields of a struct in JSON, sorted.
func optionNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
