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
	Domain      string // its calls are ordered only against those of this domain and of none
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

// Declared reports whether anything is declared that says if the tool changes the world.
func (e Effects) Declared() bool {
	return e.ReadOnly != Undeclared || e.Destructive != Undeclared || e.Pure == Yes || e.Independent == Yes
}

// Repeatable reports whether a call whose answer was lost may be made again
// unasked: read-only, pure or idempotent (execution §2).
func (e Effects) Repeatable() bool {
	return e.ReadOnly == Yes || e.Pure == Yes || e.Idempotent == Yes
}

// MoreCareful returns e with what a source that is not trusted (a document, an MCP
// server) says of the effects. Only what makes us more careful counts
// (plan-language §1, §7): that the tool writes, destroys, reaches out, can't be
// repeated, is not pure or not independent. What the source is silent about, and
// what would make us less careful, stays as e has it; so does the domain. When
// the source says that the tool changes the world, it is no longer read-only or
// pure, whatever e has.
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

// careful returns the hint that counts when only one answer makes us more careful.
func careful(trusted, said, answer Hint) Hint {
	if said == answer {
		return answer
	}
	return trusted
}

// With returns e with what somebody declares who is trusted, and knows better: his
// hints count in place of e's. What e has besides is left out where it can't be true with them.
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

// Either returns the effects of a call that may do what e or what other says: both have
// to promise what makes us less careful, one is enough for what makes us more
// careful. Domains count only when they are the same.
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

// either returns what two hints come to together, of which the careful one wins and
// the other needs both.
func either(a, b, careful Hint) Hint {
	switch {
	case a == b:
		return a
	case a == careful || b == careful:
		return careful
	}
	return Undeclared
}
