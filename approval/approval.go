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

// version is that of the form of the file.
const version = 2

// File is an approval, or a request for one. Its JSON is the file.
type File struct {
	Kind    string `json:"plc"` // "approval"
	Version int    `json:"version"`
	ID      string `json:"id"`     // of its own, for it to be used once
	Digest  string `json:"digest"` // of the manifest
	Plan    string `json:"plan"`   // what the plan's file was called

	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"` // nil is never

	ApprovedBy string     `json:"approvedBy,omitempty"`
	ApprovedAt *time.Time `json:"approvedAt,omitempty"`
	RejectedBy string     `json:"rejectedBy,omitempty"`
	RejectedAt *time.Time `json:"rejectedAt,omitempty"`
	Reason     string     `json:"reason,omitempty"` // of a rejection
	UsedAt     *time.Time `json:"usedAt,omitempty"`
	Run        string     `json:"run,omitempty"` // that used it

	// Manifest is the document that Digest is computed from. What an approver sees is rendered from
	// it; the file has no other text that is shown.
	Manifest json.RawMessage `json:"manifest"`

	// Covers are the calls that are approved with the plan, since they were shown exactly. The
	// others ask when they are reached.
	Covers []Covered `json:"covers,omitempty"`

	Key       string `json:"key,omitempty"`       // the public key of Signature, base64
	Signature string `json:"signature,omitempty"` // of whoever approved: see Sign

	Seal string `json:"seal"` // digest of all the other members, or their MAC: see Read
}

// Covered is a call that is approved with its plan.
type Covered struct {
	Instance string `json:"instance,omitempty"`
	Call     string `json:"call"`   // its path
	Digest   string `json:"digest"` // of the question that the approval answers
}

// Refusal is why a plan may not run on an approval.
type Refusal struct {
	Message string
	// Differences lists where the plan that would run differs from the one that was approved.
	Differences []report.Difference
}

func (r *Refusal) Error() string { return r.Message }

func refuse(format string, args ...any) *Refusal {
	return &Refusal{Message: fmt.Sprintf(format, args...)}
}

// Request returns a request to run a plan.
func Request(plan string, m report.Manifest, now time.Time) *File {
	var id [16]byte
	rand.Read(id[:]) // which never fails
	return &File{
		Kind: "approval", Version: version, ID: hex.EncodeToString(id[:]), Digest: m.Digest(), Plan: plan,
		Created: now.UTC(), Manifest: json.RawMessage(m),
	}
}

// isID reports whether an id is one that Request makes: a file is named by it.
func isID(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == 16 && id == strings.ToLower(id)
}

// Read reads a file. The error is for what is no approval; a *Refusal is for one that was
// edited. With a key, the seal is an HMAC-SHA256 by it, which nobody else can make: an
// approval with another seal is refused, and only a request that nobody has answered may have
// one without a key. A nil key refuses those that have one.
func Read(text, key []byte) (*File, error) {
	if err := jsonscan.Check(text, jsonscan.Limits{MaxDepth: 2 * jsonscan.DefaultMaxDepth}); err != nil {
		return nil, notApproval(err)
	}
	// What it is comes first: a field that can't be read ends the reading of those behind it.
	var head struct {
		Kind    string `json:"plc"`
		Version int    `json:"version"`
	}
	text = jsonscan.Canonical(nil, text)
	_ = json.Unmarshal(text, &head) // other documents have none of them
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
	// What encoding/json takes for the same member, or for the same value, is not the same here.
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

// notApproval returns the error for a file that is not an approval.
func notApproval(why error) error {
	return fmt.Errorf("not an approval: %w; to make one, run plc plan PLAN -o APPROVAL, then plc approve APPROVAL", why)
}

// macPrefix begins a seal that is made with a key.
const macPrefix = "hmac-sha256:"

// sealOf returns the digest of a file without its seal, or its MAC with a key.
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

// JSON returns the file, sealed with a key; nil is none.
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
		panic(err) // the manifest is JSON, and all else can be encoded
	}
	return b.Bytes()
}

// Approve notes that somebody approved the plan. The error says why that is too late.
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

// Reject notes that somebody rejected the plan; that can't be taken back, but an approval
// can be. The error says why that is too late.
func (f *File) Reject(by, reason string, now time.Time) error {
	if f.UsedAt != nil {
		return refuse("the approval was used already, by the run %s", f.Run)
	}
	at := now.UTC()
	f.RejectedBy, f.RejectedAt, f.Reason = by, &at, reason
	return nil
}

// open says why nothing more can be done with the file.
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

// Allows returns nil when a plan of this manifest may run now, and else a *Refusal.
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

// Use notes that a run uses the approval.
func (f *File) Use(run string, now time.Time) {
	at := now.UTC()
	f.UsedAt, f.Run = &at, run
}
