package loop

// growing finds the calls of a solution in its text while that is being written: the
// elements of "calls" that are complete. It looks at each byte once, and finds nothing in a text
// that does not begin like a solution; what it finds is read again when the text is whole.
type growing struct {
	text []byte
	at   int // the bytes that were looked at

	depth    int
	inString bool
	escaped  bool
	key      int  // where a member's name of the root began, 0 is none
	calls    bool // the value that comes is that of "calls"
	inside   bool // at depth 2 are the calls
	done     bool // the list has ended, or there is none
	start    int  // of the call that is being written
}

// add takes a piece of the text and returns the calls that came to their end in it.
func (g *growing) add(piece string) (calls [][]byte) {
	g.text = append(g.text, piece...)
	for ; g.at < len(g.text) && !g.done; g.at++ {
		if call := g.look(g.text[g.at]); call != nil {
			calls = append(calls, call)
		}
	}
	return calls
}

// look takes the next byte.
func (g *growing) look(c byte) []byte {
	if g.inString {
		g.lookInString(c)
		return nil
	}
	switch c {
	case '"':
		g.inString = true
		if g.depth == 1 && !g.calls {
			g.key = g.at + 1
		}
	case '{', '[':
		if g.depth == 0 && c == '[' {
			g.done = true // prose, or a list of calls without an output: it is read when it is whole
			return nil
		}
		g.depth++
		g.open(c)
	case '}', ']':
		g.depth--
		return g.close()
	case ',':
		if g.depth == 1 {
			g.calls = false
		}
	}
	return nil
}

func (g *growing) lookInString(c byte) {
	switch {
	case g.escaped:
		g.escaped = false
	case c == '\\':
		g.escaped = true
	case c == '"':
		g.inString = false
		if g.key > 0 {
			g.calls = string(g.text[g.key:g.at]) == "calls"
			g.key = 0
		}
	}
}

func (g *growing) open(c byte) {
	switch {
	case g.depth == 2 && g.calls && c == '[':
		g.inside = true
	case g.depth == 3 && g.inside:
		g.start = g.at
		g.done = c == '[' // no call: what is wrong is said when the text is whole
	}
}

func (g *growing) close() []byte {
	switch {
	case g.depth == 2 && g.inside:
		return g.text[g.start : g.at+1]
	case g.depth == 1 && g.inside, g.depth <= 0:
		g.done = true
	}
	return nil
}
