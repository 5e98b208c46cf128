package state

import "fmt"

// Error says why a write can't be applied (plan-language §4 and §6). Nothing of
// such a write is applied.
type Error struct {
	Path   Path   // the place that is in the way; of Apply, below the document
	Method Method // of the write
	Have   string // what is there: "a number", "an object", "a list of 2", "nothing"
	Reason string // what it can't do, and the cure
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	if len(e.Path) == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Reason)
}

// at returns the error with its place, nil if it is nil.
func (e *Error) at(p Path) *Error {
	if e != nil {
		e.Path = p
	}
	return e
}

// noMember returns the error of a name on what is no object.
func noMember(have shape, name string) *Error {
	return &Error{Have: have.String(), Reason: fmt.Sprintf("%s has no members, so nothing can be written to %q in it", have, name)}
}

// noElement returns the error of an index on what is no list.
func noElement(have shape, index int) *Error {
	e := &Error{Have: have.String(), Reason: fmt.Sprintf("%s has no elements, so nothing can be written to [%d] of it", have, index)}
	if have == nothing {
		e.Reason = fmt.Sprintf("there is no list here, so nothing can be written to [%d] of it; [0] or push starts one", index)
	}
	return e
}

// beyond returns the error of an index outside a list.
func beyond(length, index int) *Error {
	have := fmt.Sprintf("a list of %d", length)
	return &Error{Have: have, Reason: fmt.Sprintf("%s has no [%d]; [%d] or push appends", have, index, length)}
}

// notAppendable returns the error of push and concat onto anything but a list.
func notAppendable(have shape, m Method) *Error {
	return &Error{Have: have.String(), Reason: fmt.Sprintf("%s onto %s; it needs a list, or nothing", m, have)}
}

// notList returns the error of concat of anything but a list.
func notList(have, value shape) *Error {
	return &Error{Have: have.String(), Reason: fmt.Sprintf("concat of %s; the value must be a list, push appends a single one", value)}
}

// notRoot returns the error of a root that would not be an object any more.
func notRoot(value shape, m Method) *Error {
	return &Error{Have: object.String(), Reason: fmt.Sprintf("%s of %s; a kind as a whole is always an object", m, value)}
}

// noStar returns the error of a write to [*].
func noStar(have shape) *Error {
	return &Error{Have: have.String(), Reason: "[*] can only be read; a write needs one path"}
}

// tooLong returns the error of a path with too many steps.
func tooLong(steps int) *Error {
	return &Error{Have: object.String(), Reason: fmt.Sprintf("a path of %d steps; a write may have at most %d", steps, maxSteps)}
}
