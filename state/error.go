package state

import "fmt"

// Error is the reason why a write can't be applied (plan-language §4 and §6). No part of such a
// write is applied.
type Error struct {
	Path   Path   // the place that prevents the write; from Apply, relative to the document
	Method Method // of the write
	Have   string // the present value: "a number", "an object", "a list of 2", "nothing"
	Reason string // what is not possible with it, and what to do instead
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	if len(e.Path) == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Reason)
}

// at returns the error with its path set, nil if the error is nil.
func (e *Error) at(p Path) *Error {
	if e != nil {
		e.Path = p
	}
	return e
}

// noMember returns the error for a name on a value that is not an object.
func noMember(have shape, name string) *Error {
	return &Error{Have: have.String(), Reason: fmt.Sprintf("%s has no members, so nothing can be written to %q in it", have, name)}
}

// noElement returns the error for an index on a value that is not a list.
func noElement(have shape, index int) *Error {
	e := &Error{Have: have.String(), Reason: fmt.Sprintf("%s has no elements, so nothing can be written to [%d] of it", have, index)}
	if have == nothing {
		e.Reason = fmt.Sprintf("there is no list here, so nothing can be written to [%d] of it; [0] or push starts one", index)
	}
	return e
}

// beyond returns the error for an index outside a list.
func beyond(length, index int) *Error {
	have := fmt.Sprintf("a list of %d", length)
	return &Error{Have: have, Reason: fmt.Sprintf("%s has no [%d]; [%d] or push appends", have, index, length)}
}

// notAppendable returns the error for push and concat onto anything but a list.
func notAppendable(have shape, m Method) *Error {
	return &Error{Have: have.String(), Reason: fmt.Sprintf("%s onto %s; it needs a list, or nothing", m, have)}
}

// notList returns the error for a concat whose value is not a list.
func notList(have, value shape) *Error {
	return &Error{Have: have.String(), Reason: fmt.Sprintf("concat of %s; the value must be a list, push appends a single one", value)}
}

// notRoot returns the error for a write after which the root would not be an object.
func notRoot(value shape, m Method) *Error {
	return &Error{Have: object.String(), Reason: fmt.Sprintf("%s of %s; a kind as a whole is always an object", m, value)}
}

// noStar returns the error for a write to [*].
func noStar(have shape) *Error {
	return &Error{Have: have.String(), Reason: "[*] can only be read; a write needs one path"}
}

// tooLong returns the error for a path with too many steps.
func tooLong(steps int) *Error {
	return &Error{Have: object.String(), Reason: fmt.Sprintf("a path of %d steps; a write may have at most %d", steps, maxSteps)}
}
