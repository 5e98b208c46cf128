package tool

import "cmp"

// Hint is a declaration about an effect. The zero Hint is undeclared.
type Hint uint8

// The hints.
const (
	Undeclared Hint = iota
	Yes
	No
)

// String returns the hint as people read it.
func (h Hint) String() string {
	switch h {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "undeclared"
}

// Effects declares a tool's contact with the world (plan-language §7): MCP's hints, plus pure,
// independent and a domain. The zero Effects declare nothing.
type Effects struct {
	ReadOnly    Hint
	Destructive Hint
	Idempotent  Hint
	OpenWorld   Hint
	Pure        Hint   // no contact with the world
	Independent Hint   // its calls commute with all others
	Domain      string // its calls are ordered only against calls of this domain and calls without a domain
}

// ChangesWorld reports whether the tool is declared to change the world:
// readOnly false, or destructive true.
func (e Effects) ChangesWorld() bool { return e.ReadOnly == No || e.Destructive == Yes }

// Words describes what the effects do to the world, as far as they are declared.
func (e Effects) Words() string {
	switch {
	case e.Destructive == Yes:
		return "changes the world, destructive"
	case e.ChangesWorld():
		return "changes the world"
	case e.Pure == Yes:
		return "pure"
	case e.ReadOnly == Yes:
		return "only reads"
	}
	return "declares no effects"
}

// Declared reports whether the effects say if the tool changes the world.
func (e Effects) Declared() bool {
	return e.ReadOnly != Undeclared || e.Destructive != Undeclared || e.Pure == Yes || e.Independent == Yes
}

// Repeatable reports whether a call whose result was lost may be made again without asking: if it
// is read-only, pure or idempotent (execution §2).
func (e Effects) Repeatable() bool {
	return e.ReadOnly == Yes || e.Pure == Yes || e.Idempotent == Yes
}

// MoreCareful returns e with the effects that an untrusted source (a document, an MCP server)
// declares, as far as they require more care (plan-language §1, §7): that the tool writes,
// destroys, reaches out, can't be repeated, is not pure or not independent. Everything else is as
// in e: effects that the source does not declare, effects that would require less care, and the
// domain. If the source says that the tool changes the world, the result is neither read-only nor
// pure, whatever e says.
func (e Effects) MoreCareful(said Effects) Effects {
	if said.ChangesWorld() {
		said.ReadOnly, said.Pure = No, No
	}
	e.ReadOnly = careful(e.ReadOnly, said.ReadOnly, No)
	e.Destructive = careful(e.Destructive, said.Destructive, Yes)
	e.Idempotent = careful(e.Idempotent, said.Idempotent, No)
	e.OpenWorld = careful(e.OpenWorld, said.OpenWorld, Yes)
	e.Pure = careful(e.Pure, said.Pure, No)
	e.Independent = careful(e.Independent, said.Independent, No)
	return e
}

// careful returns said if it is the answer that requires more care, else trusted.
func careful(trusted, said, answer Hint) Hint {
	if said == answer {
		return answer
	}
	return trusted
}

// With returns e with the hints of a trusted source, which replace those of e. Hints of e that
// contradict them are dropped.
func (e Effects) With(said Effects) Effects {
	drop := func(known *Hint, value Hint, when bool) {
		if when && *known == value {
			*known = Undeclared
		}
	}
	drop(&e.Destructive, Yes, said.ReadOnly == Yes || said.Pure == Yes)
	drop(&e.ReadOnly, No, said.Pure == Yes)
	drop(&e.OpenWorld, Yes, said.Pure == Yes)
	drop(&e.ReadOnly, Yes, said.ChangesWorld())
	drop(&e.Pure, Yes, said.ChangesWorld())
	return Effects{
		ReadOnly: cmp.Or(said.ReadOnly, e.ReadOnly), Destructive: cmp.Or(said.Destructive, e.Destructive),
		Idempotent: cmp.Or(said.Idempotent, e.Idempotent), OpenWorld: cmp.Or(said.OpenWorld, e.OpenWorld),
		Pure: cmp.Or(said.Pure, e.Pure), Independent: cmp.Or(said.Independent, e.Independent),
		Domain: cmp.Or(said.Domain, e.Domain),
	}
}

// Either returns the effects of a call that may have the effects of e or those of other. A hint
// that permits less care counts only if both have it; a hint that requires more care counts if one
// has it. The domain counts only if it is the same.
func (e Effects) Either(other Effects) Effects {
	if e.Domain != other.Domain {
		e.Domain = ""
	}
	e.ReadOnly = either(e.ReadOnly, other.ReadOnly, No)
	e.Destructive = either(e.Destructive, other.Destructive, Yes)
	e.Idempotent = either(e.Idempotent, other.Idempotent, No)
	e.OpenWorld = either(e.OpenWorld, other.OpenWorld, Yes)
	e.Pure = either(e.Pure, other.Pure, No)
	e.Independent = either(e.Independent, other.Independent, No)
	return e
}

// either combines two hints: the result is careful if one of them is, and the opposite only if both
// are.
func either(a, b, careful Hint) Hint {
	switch {
	case a == b:
		return a
	case a == careful || b == careful:
		return careful
	}
	return Undeclared
}
