package draw

// The colours that Mermaid, DOT and SVG share. They can be told apart by readers who don't
// distinguish red and green, and in grey by lightness. Shapes and strokes convey the same
// information.
const (
	paper         = "#ffffff"
	ink           = "#1f2933"
	faint         = "#5b6672"
	criticalColor = "#c2185b"
	missedColor   = "#b3261e"
)

// missedSign precedes outcomes that no test has reached.
const missedSign = "✗ "

// gradeLook defines how marks of one grade are drawn.
type gradeLook struct{ sign, color, legend string }

// grades returns all grades, in the order of a legend.
func grades() []Grade { return []Grade{Best, Middle, Worst} }

func (g Grade) look() gradeLook {
	switch g {
	case Best:
		return gradeLook{"○ ", "#1b5e8c", "trusted or public; allowed"}
	case Middle:
		return gradeLook{"◐ ", "#8a5a00", "between these; to be checked or approved"}
	}
	return gradeLook{"● ", "#9b1c10", "untrusted or secret; forbidden"}
}

// look defines how nodes of one kind are drawn.
type look struct {
	fill, stroke string
	class        string    // a name that notations accept
	legend       string    // what it means
	mermaid      [2]string // the brackets round a label
	dot          string    // shape and style
}

// nodeKinds returns the kinds of nodes in legends, in order.
func nodeKinds() []string { return []string{ReadOnly, Changes, Destructive, Latent, Delegate} }

func nodeLook(kind string) look {
	switch kind {
	case ReadOnly:
		return look{"#e8f1fc", "#3b73b9", "reads", "reads", [2]string{"(", ")"}, `shape=box,style="rounded,filled"`}
	case Changes:
		return look{"#fdebd3", "#b85c00", "changes", "changes the world", [2]string{"{{", "}}"}, `shape=octagon,style="filled"`}
	case Destructive:
		return look{"#fadfdc", "#9b1c10", "destroys", "destructive", [2]string{"[/", `\]`}, `shape=doubleoctagon,style="filled"`}
	case Latent:
		return look{"#f2eafb", "#7a4fb5", "latent", "latent", [2]string{"([", "])"}, `shape=box,style="rounded,filled,dashed"`}
	case Delegate:
		return look{"#e2f4ef", "#1d7a63", "delegate", "runs a sub-plan", [2]string{"[[", "]]"}, `shape=box,peripheries=2,style="filled"`}
	}
	return look{"#f3f5f7", "#5b6672", "other", "", [2]string{"[", "]"}, `shape=box,style="filled"`}
}

// edgeLook defines how edges of one kind are drawn.
type edgeLook struct {
	stroke  string
	width   float64
	dash    string // SVG
	cap     string
	legend  string
	text    string // the arrow in text
	mermaid string
	dot     string
}

// edgeKinds returns all kinds, in the order of a legend.
func edgeKinds() []Kind { return []Kind{Data, Order, Effect} }

func (k Kind) look() edgeLook {
	switch k {
	case Order:
		return edgeLook{"#6d7a86", 1.5, "7 5", "butt", "order", "⇢", "-.->", "dashed"}
	case Effect:
		return edgeLook{"#b85c00", 2.6, "0.1 5.5", "round", "effect", "⇒", "==>", "bold,dotted"}
	}
	return edgeLook{"#46525e", 1.5, "", "butt", "data", "→", "-->", "solid"}
}

// statusColor returns the colour of a call's status (execution §1).
func statusColor(status string) string {
	switch status {
	case "completed":
		return "#2e7d32"
	case "running":
		return "#1565c0"
	case "failed":
		return "#c62828"
	case "awaiting", "ready", "uncertain", "retrying":
		return "#b26a00"
	}
	return "#7a8691"
}

// statusSign returns a sign for a call's status, for readers who can't see its colour.
func statusSign(status string) string {
	switch status {
	case "completed":
		return "✓"
	case "running":
		return "►"
	case "failed":
		return "✗"
	case "awaiting", "uncertain":
		return "?"
	case "skipped", "cancelled", "blocked":
		return "–"
	case "retrying":
		return "↻"
	}
	return "○"
}

// longestStatus is the widest status of a call.
const longestStatus = "✓ completed"
