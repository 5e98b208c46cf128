package approval

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// version is the version of the file format.
const version = 2

// File is an approval, or a request for one, in the form stored in a file.
type File struct {
	Kind    string `json:"plc"` // "approval"
	Version int    `json:"version"`
	ID      string `json:"id"`     // random, so that the approval can be used only once
	Digest  string `json:"digest"` // digest of the manifest
	Plan    string `json:"plan"`   // name of the plan's file

	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"` // nil means never

	ApprovedBy string     `json:"approvedBy,omitempty"`
	ApprovedAt *time.Time `json:"approvedAt,omitempty"`
	RejectedBy string     `json:"rejectedBy,omitempty"`
	RejectedAt *time.Time `json:"rejectedAt,omitempty"`
	Reason     string     `json:"reason,omitempty"` // reason for a rejection
	UsedAt     *time.Time `json:"usedAt,omitempty"`
	Run        string     `json:"run,omitempty"` // the run that used the approval

	// Manifest is the document whose digest is Digest. Everything shown to an approver is rendered
	// from it; the file contains no other text to show.
	Manifest json.RawMessage `json:"manifest"`

	// Covers lists the calls that are approved together with the plan, since they were shown
	// exactly. Other calls ask when they are reached.
	Covers []Covered `json:"covers,omitempty"`

	Key       string `json:"key,omitempty"`       // public key of Signature, in base64
	Signature string `json:"signature,omitempty"` // signature of the approver: see Sign

	Seal string `json:"seal"` // digest or MAC of all other members: see Read
}

// Covered is a call that is approved together with its plan.
type Covered struct {
	Instance string `json:"instance,omitempty"`
	Call     string `json:"call"`   // path of the call
	Digest   string `json:"digest"` // digest of the question that the approval answers
}

// Refusal is the reason why a plan may not run with an approval.
type Refusal struct {
	Message string
	// Differences lists the differences between the plan that would run and the approved one.
	Differences []report.Difference
}

func (r *Refusal) Error() string { return r.Message }

func refuse(format string, args ...any) *Refusal {
	return &Refusal{Message: fmt.Sprintf(format, args...)}
}

// Request returns a request to run a plan.
func Request(plan string, m report.Manifest, now time.Time) *File {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return &File{
		Kind: "approval", Version: version, ID: hex.EncodeToString(id[:]), Digest: m.Digest(), Plan: plan,
		Created: now.UTC(), Manifest: json.RawMessage(m),
	}
}

// isID reports whether an ID could be one that Request makes, since a file is named after it.
func isID(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == 16 && id == strings.ToLower(id)
}

// Read parses an approval file. It returns a *Refusal if the file was edited, and other errors if
// it isn't an approval. If key isn't nil, the seal must be an HMAC-SHA256 with that key, which
// nobody without it can make; only requests that nobody has answered may be sealed without a key.
// If key is nil, files sealed with a key are refused.
func Read(text, key []byte) (*File, error) {
	if err := jsonscan.Check(text, jsonscan.Limits{MaxDepth: 2 * jsonscan.DefaultMaxDepth}); err != nil {
		return nil, notApproval(err)
	}
	// Check the kind first, since a field that can't be decoded ends the decoding of those after
	// it.
	var head struct {
		Kind    string `json:"plc"`
		Version int    `json:"version"`
	}
	text = jsonscan.Canonical(nil, text)
	_ = json.Unmarshal(text, &head) // other documents don't have these members
	f := &File{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(f)
	switch {
	case head.Kind != "approval":
		return nil, notApproval(errors.New(`it has no "plc": "approval"`))
	case head.Version != version:
		return nil, fmt.Errorf("an approval of version %d, and this plc reads version %d; make a new one with plc plan", head.Version, version)
	case err != nil:
		return nil, refuse("the approval was edited: %s", err)
	case !isID(f.ID):
		return nil, refuse("the approval was edited: its id is none that plc plan makes")
	}
	// Two texts that encoding/json decodes alike, by name or by value, must not count as the same
	// here.
	switch keyed := strings.HasPrefix(f.Seal, macPrefix); {
	case keyed && key == nil:
		return nil, refuse("the approval is sealed with a key, and none is given")
	case !keyed && key != nil && (f.ApprovedAt != nil || f.RejectedAt != nil || f.UsedAt != nil):
		return nil, refuse("the approval is not sealed with the key")
	case !keyed:
		key = nil
	}
	if !hmac.Equal([]byte(sealOf(text, key)), []byte(f.Seal)) || !bytes.Equal(text, jsonscan.Canonical(nil, f.encode())) {
		return nil, refuse("the approval was edited after it was written; make a new one with plc plan")
	}
	m := report.Manifest(jsonscan.Canonical(nil, f.Manifest))
	if m.Digest() != f.Digest {
		return nil, refuse("the approval was edited: its digest is not that of what it lists")
	}
	f.Manifest = json.RawMessage(m)
	return f, nil
}

// notApproval returns the error for a file that isn't an approval.
func notApproval(why error) error {
	return fmt.Errorf("not an approval: %w; to make one, run plc plan PLAN -o APPROVAL, then plc approve APPROVAL", why)
}

// macPrefix is the prefix of a seal made with a key.
const macPrefix = "hmac-sha256:"

// sealOf returns the digest of a file without its seal or, with a key, its MAC.
func sealOf(text, key []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return ""
	}
	delete(members, "seal")
	rest, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	rest = jsonscan.Canonical(nil, rest)
	if key != nil {
		mac := hmac.New(sha256.New, key)
		mac.Write(rest)
		return macPrefix + hex.EncodeToString(mac.Sum(nil))
	}
	sum := sha256.Sum256(rest)
	return hex.EncodeToString(sum[:])
}

// JSON returns the file as JSON, sealed with key; key may be nil.
func (f *File) JSON(key []byte) []byte {
	f.Seal = ""
	f.Seal = sealOf(f.encode(), key)
	return f.encode()
}

func (f *File) encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil {
		panic(err) // the manifest is valid JSON, and all else can be encoded
	}
	return b.Bytes()
}

// Approve records that somebody approved the plan. It returns an error if it is too late for that.
func (f *File) Approve(by string, now time.Time) error {
	if err := f.open(now); err != nil {
		return err
	}
	if f.ApprovedAt != nil {
		return fmt.Errorf("it was approved by %s already", f.ApprovedBy)
	}
	at := now.UTC()
	f.ApprovedBy, f.ApprovedAt = by, &at
	return nil
}

// Reject records that somebody rejected the plan. An approval may be rejected later, but a
// rejection is final. Reject returns an error if it is too late.
func (f *File) Reject(by, reason string, now time.Time) error {
	if f.UsedAt != nil {
		return refuse("the approval was used already, by the run %s", f.Run)
	}
	at := now.UTC()
	f.RejectedBy, f.RejectedAt, f.Reason = by, &at, reason
	return nil
}

// open returns an error if the file can no longer be changed.
func (f *File) open(now time.Time) error {
	switch {
	case f.RejectedAt != nil && f.Reason != "":
		return refuse("the plan was rejected by %s: %s", f.RejectedBy, f.Reason)
	case f.RejectedAt != nil:
		return refuse("the plan was rejected by %s", f.RejectedBy)
	case f.UsedAt != nil:
		return refuse("the approval was used already, by the run %s; each is for one run", f.Run)
	case f.Expires != nil && !now.Before(*f.Expires):
		return refuse("the approval expired at %s", f.Expires.Format(time.RFC3339))
	}
	return nil
}

// Waits reports whether the file is neither approved, rejected, used nor expired.
func (f *File) Waits(now time.Time) bool { return f.ApprovedAt == nil && f.open(now) == nil }

// Allows returns nil if a plan with this manifest may run now, and otherwise a *Refusal.
func (f *File) Allows(m report.Manifest, now time.Time) error {
	if err := f.open(now); err != nil {
		return err
	}
	if f.ApprovedAt == nil || f.ApprovedBy == "" {
		return refuse("the plan is not approved yet; plc approve FILE approves it")
	}
	if m.Digest() == f.Digest {
		return nil
	}
	r := refuse("what would run is not what was approved")
	r.Differences = report.Manifest(f.Manifest).Differences(m)
	return r
}

// Use records the run that uses the approval.
func (f *File) Use(run string, now time.Time) {
	at := now.UTC()
	f.UsedAt, f.Run = &at, run
}
