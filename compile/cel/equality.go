package cel

import (
	"fmt"
	"strings"
)

// memberFault returns what is wrong with "a in b".
func memberFault(a, b *typ) string {
	switch b.kind {
	case dynKind, varKind:
	case objectKind:
		if !mayEqual(a, stringType) {
			return fmt.Sprintf("%s is no name of a member", a)
		}
	case listKind, mapKind:
		if of := b.args[0]; !mayEqual(a, of) {
			return fmt.Sprintf("%s and %s are never equal", a, of)
		}
	default:
		return fmt.Sprintf(`"in" wants a list or an object, not %s`, b)
	}
	return ""
}

// mayEqual reports whether a value of the one type may be equal to one of the other. What
// may be null is not always known of a type: anything can be compared with it.
func mayEqual(a, b *typ) bool {
	ka, kb := group(a), group(b)
	switch {
	case ka == dynKind || kb == dynKind || ka == nullKind || kb == nullKind:
		return true
	case ka == listKind && kb == listKind:
		return mayEqual(a.args[0], b.args[0])
	}
	return ka == kb
}

// group returns the kind of a type, one for all numbers, one for all objects and one for all
// of which nothing is known.
func group(t *typ) typeKind {
	switch k := t.kind; k {
	case intKind, uintKind, doubleKind:
		return doubleKind
	case objectKind, mapKind:
		return mapKind
	case varKind:
		return dynKind
	default:
		return k
	}
}

// typeWords returns the type of a value for people.
func typeWords(name string) string { return strings.TrimSuffix(name, "_type") }
