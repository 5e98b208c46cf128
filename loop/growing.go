package loop

// growing finds the calls of a solution while its text is being written: the complete elements of
// "calls". It looks at each byte once, and finds nothing in a text that doesn't begin like a
// solution. Everything it finds is parsed again once the text is complete.
type growing struct {
	text []byte
	at   int // number of bytes looked at

	depth    int
	inString bool
	escaped  bool
	key      int  // where a name of a top-level member began, or 0
	calls    bool // the next value is that of "calls"
	inside   bool // depth 2 is inside the list of calls
	done     bool // the list has ended or doesn't exist
	start    int  // start of the call being written
}

// add appends a piece of the text and returns the calls that it completed.
func (g *growing) add(piece string) (calls [][]byte) {
	g.text = append(g.text, piece...)
	for ; g.at < len(g.text) && !g.done; g.at++ {
		if call := g.look(g.text[g.at]); call != nil {
			calls = append(calls, call)
		}
	}
	return calls
}

// look processes the next byte.
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
			g.done = true // prose, or a list of calls without an output; parsed when complete
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
		g.done = c == '[' // not a call; reported when the text is complete
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
