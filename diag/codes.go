package diag

import "fmt"

// Code is the stable number of a kind of finding (plan-language §11). Numbers
// are never reused.
type Code uint16

// String is the code as it is shown: PLC302.
func (c Code) String() string { return fmt.Sprintf("PLC%03d", uint16(c)) }

// MarshalText writes the code as a finding's JSON has it.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// The codes.
const (
	// NotJSON is text that is not JSON.
	NotJSON Code = 101

	// DuplicateMember is a member name that stands twice in one object.
	DuplicateMember Code = 102

	// OverLimit is a document over a limit: its size, its depth or its number of calls.
	OverLimit Code = 103

	// Mended is text of a model that was mended to be read (warning; --from llm).
	Mended Code = 104

	// NotAPlan is JSON that is not a plan.
	NotAPlan Code = 105

	// BadExpression is an expression that does not parse.
	BadExpression Code = 110

	// MixedOperators is || and && mixed without parentheses.
	MixedOperators Code = 111

	// BareDagger is a bare † inside longer text (warning).
	BareDagger Code = 112

	// UnknownTool is a tool that nobody defines.
	UnknownTool Code = 201

	// NoTool is a call without _tool.
	NoTool Code = 202

	// UnknownMember is an underscore member that the language does not have.
	UnknownMember Code = 203

	// DuplicateID is an _id that two calls have.
	DuplicateID Code = 204

	// MissingParam is a required param that is missing.
	MissingParam Code = 205

	// UnknownParam is a param that the tool does not have.
	UnknownParam Code = 206

	// BadMember is an underscore member of the wrong type.
	BadMember Code = 207

	// FixedByTool is a member that breaks what the tool fixes or limits.
	FixedByTool Code = 208

	// UnknownActivity is an activity that nothing implements.
	UnknownActivity Code = 209

	// UnknownKind is a reference to a kind that does not exist.
	UnknownKind Code = 301

	// NothingThere is a reference to nothing: nobody writes it and nothing holds it.
	NothingThere Code = 302

	// WriteToInput is a write to the input.
	WriteToInput Code = 303

	// PathNotAllowed is a path that the state schema does not allow.
	PathNotAllowed Code = 304

	// UnknownCall is a _dependsOn that names no call.
	UnknownCall Code = 305

	// DeadWrite is a write that no one can read (warning).
	DeadWrite Code = 306

	// RacingWrites is two writers of one path with no order between them (warning).
	RacingWrites Code = 307

	// UnhandledOutcome is an outcome that nothing handles (warning).
	UnhandledOutcome Code = 308

	// ResultDropped is a read-only call without an output path (warning).
	ResultDropped Code = 309

	// Cycle is a cycle.
	Cycle Code = 401

	// NeverRuns is a call that can never run.
	NeverRuns Code = 402

	// UndeclaredEffects is calls of undeclared effects that may overlap (info).
	UndeclaredEffects Code = 403

	// BadLiteral is a literal that its schema forbids.
	BadLiteral Code = 501

	// NotAssignable is a reference whose value can not fit.
	NotAssignable Code = 502

	// PerhapsNotAssignable is a reference whose value may not fit (warning with --strict).
	PerhapsNotAssignable Code = 503

	// OptionalRead is an optional member read as if it were required (warning).
	OptionalRead Code = 504

	// BadResult is a result that the state schema forbids.
	BadResult Code = 505

	// BadInput is input or state that breaks its schema.
	BadInput Code = 506

	// BadSchema is a schema that is not one.
	BadSchema Code = 507

	// LazyWithResults is a lazy plan that already holds results.
	LazyWithResults Code = 601

	// OpenChoice is a latent call of an eager plan that leaves its outcome open.
	OpenChoice Code = 602

	// OverBudget is a plan that costs more than its budget.
	OverBudget Code = 603

	// NotPermitted is a tool that may not be used.
	NotPermitted Code = 604

	// NotAllowed is a host or a path outside the allow-list.
	NotAllowed Code = 605

	// NobodyMakesIt is a latent call that nothing can make (run).
	NobodyMakesIt Code = 606

	// BadDelegate is a delegate that can not be read.
	BadDelegate Code = 701

	// DelegateTooDeep is delegates in a circle, or nested too deep.
	DelegateTooDeep Code = 702

	// UnknownInstance is an instance that does not exist.
	UnknownInstance Code = 703
)
