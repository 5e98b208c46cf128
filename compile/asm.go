package compile

import (
	"fmt"
	"io"
	"strings"

	"github.com/plc-lang/plc/lang"
)

// String returns the program as readable assembly, a line a call in plan order:
//
//	1  fetch    fetchUserProfile {"userName":"Alice"}       set †state.profile
//	2  sum      summarize {"profile":†state.profile@1}      set †state.summary     after 1
//
// @N after a reference is the place that ends its binding. The plan is followed by the documents
// that it delegates to, each once.
func (p *Program) String() string {
	var b strings.Builder
	p.WriteTo(&b)
	return b.String()
}

// WriteTo writes the string that String returns.
func (p *Program) WriteTo(w io.Writer) (int64, error) {
	total, err := p.write(w)
	for _, d := range p.documents() {
		if err != nil {
			break
		}
		var n int
		n, err = fmt.Fprintf(w, "\n%s:\n", d.File().Name)
		total += int64(n)
		if err == nil {
			var more int64
			more, err = d.write(w)
			total += more
		}
	}
	return total, err
}

// write writes the calls and the output of one document.
func (p *Program) write(w io.Writer) (int64, error) {
	var total int64
	after := p.effectEdges()
	for i := range p.Calls {
		n, err := io.WriteString(w, p.Calls[i].assembly(after[int32(i)])+"\n")
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	if p.Output != nil {
		n, err := fmt.Fprintf(w, "output %s\n", p.Output)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	if p.Template {
		n, err := fmt.Fprintf(w, "once for each of %s\n", count(len(p.Instances), "instance"))
		return total + int64(n), err
	}
	return total, nil
}

// documents returns the programs that calls delegate to, directly or not, one for each name, in
// order.
func (p *Program) documents() []*Program {
	var all []*Program
	seen := map[string]bool{}
	done := map[*Program]bool{}
	var visit func(p *Program)
	visit = func(p *Program) {
		done[p] = true
		for i := range p.Calls {
			d := p.Calls[i].Delegate
			if d == nil || d.Program == nil || done[d.Program] {
				continue
			}
			if !seen[d.Name] {
				seen[d.Name] = true
				all = append(all, d.Program)
			}
			visit(d.Program)
		}
	}
	visit(p)
	return all
}

func (c *Call) assembly(after []int32) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\t%s\t%s %s", c.Place, c.ID, c.Source.Tool, &c.Params)
	if c.Instance != "" {
		fmt.Fprintf(&b, "\tof %s", c.Instance)
	}
	if c.Delegate != nil {
		fmt.Fprintf(&b, "\tdelegate %s", c.Delegate.Name)
	}
	if c.When != nil {
		fmt.Fprintf(&b, "\twhen %s", c.When)
	}
	for i, a := range c.Alternatives {
		if i == 0 {
			fmt.Fprintf(&b, "\t%s ", c.Method)
		} else {
			b.WriteString(" || ")
		}
		for j, w := range a.Writes {
			if j > 0 {
				b.WriteString(" && ")
			}
			b.WriteString(w.Path.String())
		}
	}
	if c.ErrorPath != nil {
		fmt.Fprintf(&b, "\terror %s", c.ErrorPath.Path)
	}
	for i, n := range after {
		sep := ", "
		if i == 0 {
			sep = "\tafter "
		}
		fmt.Fprintf(&b, "%s%d", sep, n+1)
	}
	return b.String()
}

// String returns the template with the bindings of its references.
func (t *Template) String() string {
	var b strings.Builder
	done := int32(0)
	for _, h := range t.holes {
		b.Write(t.json[done:h.at])
		done = h.at
		switch {
		case h.expr != nil:
			b.WriteString(h.expr.String())
		case h.text.raw != nil:
			b.Write(h.text.raw)
		default:
			b.WriteByte('"')
			for _, part := range h.text.parts {
				if part.expr == nil {
					b.WriteString(part.text)
				} else {
					fmt.Fprintf(&b, "†{%s}", part.expr)
				}
			}
			b.WriteByte('"')
		}
	}
	b.Write(t.json[done:])
	return b.String()
}

// String returns the expression with the places that its references are bound to.
func (e *Expr) String() string {
	return e.spell(func(ref *Expr) string {
		if ref.void {
			return ref.read.Path.String() + "@never"
		}
		return ref.read.String()
	})
}

// Plain returns the expression without the places that its references are bound to.
func (e *Expr) Plain() string {
	return e.spell(func(ref *Expr) string { return ref.read.Path.String() })
}

// spell returns the expression with its references spelled by a function.
func (e *Expr) spell(reference func(*Expr) string) string {
	switch e.op {
	case lang.OpRef:
		return reference(e)
	case lang.OpLiteral:
		return string(e.value)
	}
	op := " || "
	if e.op == lang.OpAnd {
		op = " && "
	}
	parts := make([]string, len(e.args))
	for i, a := range e.args {
		parts[i] = a.spell(reference)
	}
	return "(" + strings.Join(parts, op) + ")"
}

// String returns the reference, followed by @ and the place that ends its binding.
func (r *Read) String() string {
	if r.Since == 0 {
		return r.Path.String()
	}
	return fmt.Sprintf("%s@%d", r.Path, r.Since)
}
