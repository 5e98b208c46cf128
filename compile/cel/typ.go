package cel

import "strings"

// typeKind tells the types from each other.
type typeKind int8

const (
	dynKind typeKind = iota // nothing is known about the type
	nullKind
	boolKind
	intKind
	uintKind
	doubleKind
	stringKind
	bytesKind
	timestampKind
	durationKind
	listKind
	mapKind
	objectKind // of a schema; its name is the schema in short
	typeOfKind // type(x), of types
	varKind    // stands for a type that is found while a condition is checked
)

// typ is a type of CEL.
type typ struct {
	kind typeKind
	name string // of an object; of a variable in a declaration
	args []*typ
	id   int // of a variable

	parts int // how many types it is made of; 0 is one
}

var (
	dynType       = &typ{kind: dynKind}
	nullType      = &typ{kind: nullKind}
	boolType      = &typ{kind: boolKind}
	intType       = &typ{kind: intKind}
	uintType      = &typ{kind: uintKind}
	doubleType    = &typ{kind: doubleKind}
	stringType    = &typ{kind: stringKind}
	bytesType     = &typ{kind: bytesKind}
	timestampType = &typ{kind: timestampKind}
	durationType  = &typ{kind: durationKind}
)

// simple are the types without parts, by the names that they have in declarations and messages.
var simple = map[string]*typ{
	"dyn": dynType, "null": nullType, "bool": boolType, "int": intType, "uint": uintType, "double": doubleType,
	"string": stringType, "bytes": bytesType, "timestamp": timestampType, "duration": durationType,
}

// words are the names of the kinds.
var words = [...]string{"dyn", "null", "bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration", "list", "map", "", "type", "dyn"}

func listOf(elem *typ) *typ { return compound(listKind, elem) }

func mapOf(key, value *typ) *typ { return compound(mapKind, key, value) }

func typeOf(of *typ) *typ { return compound(typeOfKind, of) }

// maxTypeParts limits the parts of a type. What is larger is dyn: a condition may double a type
// with a few bytes, again and again.
const maxTypeParts = 200

func compound(kind typeKind, args ...*typ) *typ {
	t := &typ{kind: kind, args: args, parts: 1}
	for _, a := range args {
		t.parts += max(a.parts, 1)
	}
	if t.parts > maxTypeParts {
		return dynType
	}
	return t
}

func (t *typ) isDyn() bool { return t.kind == dynKind }

func (t *typ) same(other *typ) bool {
	if t == other {
		return true
	}
	if t.kind != other.kind || t.name != other.name || t.id != other.id || len(t.args) != len(other.args) {
		return false
	}
	for i, a := range t.args {
		if !a.same(other.args[i]) {
			return false
		}
	}
	return true
}

// String returns the type for people.
func (t *typ) String() string {
	if t.kind == objectKind {
		return t.name
	}
	if len(t.args) == 0 {
		return words[t.kind]
	}
	return words[t.kind] + "(" + typeList(t.args) + ")"
}

func typeList(all []*typ) string {
	parts := make([]string, len(all))
	for i, t := range all {
		parts[i] = t.String()
	}
	return strings.Join(parts, ", ")
}

// unifier finds the types that variables stand for, as in the reference implementation of CEL:
// what fits is assigned, dyn fits everything, and null fits what may be absent.
type unifier struct {
	known map[int]*typ
	next  int
	trail []binding // what known was before, to go back
	steps int
}

// maxTypeSteps limits the work with types, which variables could make arbitrarily large.
const maxTypeSteps = 500_000

func (u *unifier) tooLarge() bool {
	u.steps++
	return u.steps > maxTypeSteps
}

type binding struct {
	id  int
	was *typ
}

func (u *unifier) fresh() *typ {
	u.next++
	return &typ{kind: varKind, id: u.next}
}

func (u *unifier) bind(v, t *typ) {
	u.trail = append(u.trail, binding{v.id, u.known[v.id]})
	u.known[v.id] = t
}

// resolve replaces the variables of a type that are known. Others become dyn if open is false.
func (u *unifier) resolve(t *typ, open bool) *typ {
	if u.tooLarge() {
		return dynType
	}
	if t.kind == varKind {
		if known := u.known[t.id]; known != nil {
			return u.resolve(known, open)
		}
		if open {
			return t
		}
		return dynType
	}
	if len(t.args) == 0 {
		return t
	}
	args := make([]*typ, len(t.args))
	for i, a := range t.args {
		args[i] = u.resolve(a, open)
	}
	return compound(t.kind, args...)
}

// fits reports whether values of each type may be used as those of the other list. Unless it
// does, it leaves no variable bound.
func (u *unifier) fits(all, to []*typ) bool {
	if len(all) != len(to) {
		return false
	}
	mark := len(u.trail)
	for i, t := range all {
		if !u.fit(t, to[i]) {
			for n := len(u.trail) - 1; n >= mark; n-- {
				if b := u.trail[n]; b.was == nil {
					delete(u.known, b.id)
				} else {
					u.known[b.id] = b.was
				}
			}
			u.trail = u.trail[:mark]
			return false
		}
	}
	return true
}

func (u *unifier) fit(t, to *typ) bool {
	if u.tooLarge() {
		return true
	}
	if to.kind == varKind {
		ok, bound := u.stands(to, t)
		if ok || bound {
			return ok
		}
	}
	if t.kind == varKind {
		ok, _ := u.stands(t, to)
		return ok
	}
	switch {
	case t.isDyn() || to.isDyn():
		return true
	case t.kind == nullKind:
		return to.kind == nullKind || maybeAbsent(to)
	case to.kind == nullKind:
		return maybeAbsent(t)
	case t.kind != to.kind || t.kind == objectKind && t.name != to.name:
		return false
	case t.kind == typeOfKind && !hasVar(t) && !hasVar(to):
		return true
	}
	for i, a := range t.args {
		if !u.fit(a, to.args[i]) {
			return false
		}
	}
	return true
}

// maybeAbsent reports whether null fits a type.
func maybeAbsent(t *typ) bool {
	return t.kind == objectKind || t.kind == timestampKind || t.kind == durationKind
}

func hasVar(t *typ) bool {
	if t.kind == varKind {
		return true
	}
	for _, a := range t.args {
		if hasVar(a) {
			return true
		}
	}
	return false
}

// stands reports whether a variable may stand for a type, and whether it was bound before.
func (u *unifier) stands(v, t *typ) (ok, bound bool) {
	if t.same(v) {
		return true, true
	}
	if known := u.known[v.id]; known != nil {
		if t.same(known) {
			return true, true
		}
		if !u.fit(t, known) {
			return false, true
		}
		if wider := widest(t, known); !u.within(v, wider) {
			u.bind(v, wider)
		}
		return true, true
	}
	if u.within(v, t) {
		return false, false
	}
	u.bind(v, t)
	return true, false
}

// within reports whether a variable is a part of a type, for which it can't stand then.
func (u *unifier) within(v, t *typ) bool {
	if u.tooLarge() {
		return true
	}
	if t.kind == varKind {
		known := u.known[t.id]
		return t.id == v.id || known != nil && u.within(v, known)
	}
	for _, a := range t.args {
		if u.within(v, a) {
			return true
		}
	}
	return false
}

// join returns the type of a list's elements after one more element.
func (u *unifier) join(so, t *typ) *typ {
	switch {
	case so == nil:
		return t
	case u.fits([]*typ{so}, []*typ{t}):
		return widest(so, t)
	}
	return dynType
}

// widest returns the one of two types that fit each other which says less.
func widest(a, b *typ) *typ {
	if saysLess(a, b) {
		return a
	}
	return b
}

func saysLess(a, b *typ) bool {
	switch {
	case a.isDyn() || a.kind == varKind:
		return true
	case b.isDyn() || b.kind == varKind || a.kind != b.kind || a.name != b.name:
		return false
	}
	for i, t := range a.args {
		if !saysLess(t, b.args[i]) {
			return false
		}
	}
	return true
}
