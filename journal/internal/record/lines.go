package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Lines holds events as JSON, one in each line, as package json encodes them but in a quarter of
// the time. (Encoding was a fifth of the cost of a recorded call.)
type Lines []byte

// Add adds a line for an event. If the event can't be encoded, it adds nothing and returns an
// error.
func (l *Lines) Add(e *exec.Event) error {
	before := len(*l)
	if err := l.event(e); err != nil {
		*l = (*l)[:before]
		return err
	}
	return nil
}

// AddText adds a line that is already encoded.
func (l *Lines) AddText(line []byte) {
	l.separate()
	*l = append(*l, line...)
}

// separate ends the line before.
func (l *Lines) separate() {
	if len(*l) > 0 {
		*l = append(*l, '\n')
	}
}

func (l *Lines) event(e *exec.Event) error {
	l.separate()
	*l = append(*l, `{"type":`...)
	l.quote(string(e.Type))
	if err := l.time(e.Time); err != nil {
		return err
	}
	*l = append(*l, `,"run":`...)
	l.quote(e.Run)
	l.string(`,"instance":`, e.Instance)
	l.string(`,"call":`, e.Call)
	l.string(`,"tool":`, e.Tool)
	l.number(`,"attempt":`, int64(e.Attempt))
	l.string(`,"status":`, string(e.Status))
	l.string(`,"path":`, e.Path)
	l.string(`,"method":`, e.Method)
	if err := l.value(`,"value":`, e.Value); err != nil {
		return err
	}
	l.string(`,"key":`, e.Key)
	l.string(`,"activity":`, e.Activity)
	if e.Intent != nil {
		if err := l.intent(e.Intent); err != nil {
			return err
		}
	}
	l.string(`,"outcome":`, e.Outcome)
	if err := l.rare(e); err != nil {
		return err
	}
	l.string(`,"question":`, string(e.Question))
	l.string(`,"digest":`, e.Digest)
	l.string(`,"content":`, e.Content)
	l.flag(`,"fallback":`, e.Fallback)
	l.flag(`,"cached":`, e.Cached)
	l.flag(`,"lost":`, e.Lost)
	l.string(`,"work":`, string(e.Work))
	l.flag(`,"permanent":`, e.Permanent)
	l.flag(`,"undoes":`, e.Undoes)
	l.flag(`,"applied":`, e.Applied)
	l.flag(`,"replayed":`, e.Replayed)
	l.number(`,"revision":`, int64(e.Revision))
	if e.Error != nil {
		*l = append(*l, `,"error":{"code":`...)
		l.quote(e.Error.Code)
		*l = append(*l, `,"message":`...)
		l.quote(e.Error.Message)
		*l = append(*l, '}')
	}
	l.string(`,"by":`, e.By)
	l.string(`,"reason":`, e.Reason)
	l.number(`,"delay":`, int64(e.Delay))
	*l = append(*l, '}')
	return nil
}

// intent adds the Intent of an attempt.
func (l *Lines) intent(in *exec.Intent) error {
	*l = append(*l, `,"intent":{`...)
	at := len(*l)
	if in.Repeatable {
		*l = append(*l, `,"repeatable":true`...)
	}
	if err := l.value(`,"params":`, in.Params); err != nil {
		return err
	}
	if in.Undo != nil {
		if err := l.encode(`,"undo":`, in.Undo); err != nil {
			return err
		}
	}
	if len(*l) > at { // drop the first comma
		*l = slices.Delete(*l, at, at+1)
	}
	*l = append(*l, '}')
	return nil
}

// rare adds the members that few events have.
func (l *Lines) rare(e *exec.Event) error {
	if e.Usage != nil {
		if err := l.encode(`,"usage":`, e.Usage); err != nil {
			return err
		}
	}
	if e.Progress != nil {
		if err := l.encode(`,"progress":`, e.Progress); err != nil {
			return err
		}
	}
	if e.Asked != nil {
		if err := l.encode(`,"asked":`, e.Asked); err != nil {
			return err
		}
	}
	if e.Answer != nil {
		return l.encode(`,"answer":`, e.Answer)
	}
	return nil
}

func (l *Lines) encode(name string, v any) error {
	text, err := Encode(v)
	*l = append(append(*l, name...), text...)
	return err
}

func (l *Lines) time(t time.Time) error {
	text, err := t.AppendText(append(*l, `,"time":"`...))
	if err != nil {
		return err
	}
	*l = append(text, '"')
	return nil
}

// value adds a value without white space. A value that our own reader refuses, such as an object
// with a name twice, is passed to package json.
func (l *Lines) value(name string, raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	text, err := jsonscan.Compacting(raw, jsonscan.Limits{})
	if err != nil {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return err
		}
		text = b.Bytes()
	}
	*l = append(append(*l, name...), text...)
	return nil
}

func (l *Lines) string(name, s string) {
	if s != "" {
		*l = append(*l, name...)
		l.quote(s)
	}
}

func (l *Lines) number(name string, n int64) {
	if n != 0 {
		*l = strconv.AppendInt(append(*l, name...), n, 10)
	}
}

func (l *Lines) flag(name string, is bool) {
	if is {
		*l = append(append(*l, name...), "true"...)
	}
}

// quote adds a string. Package json encodes strings in which something may have to be escaped.
func (l *Lines) quote(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			text, err := Encode(s)
			if err != nil {
				panic(err) // a string
			}
			*l = append(*l, text...)
			return
		}
	}
	*l = append(append(append(*l, '"'), s...), '"')
}

// Encode returns the JSON of a value, with <, > and & as they are.
func Encode(v any) (string, error) {
	text, err := jsonscan.Marshal(v)
	return string(text), err
}
