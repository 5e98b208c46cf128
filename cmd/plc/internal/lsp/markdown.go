package lsp

import "strings"

// markup escapes the characters that have a meaning in Markdown anywhere in a line.
var markup = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "!", `\!`, "|", `\|`, "~", `\~`, "&", `\&`,
)

// escaped returns a text from outside, escaped so that Markdown shows it as it is.
func escaped(text string) string { return markup.Replace(text) }

// code returns a text from outside, on one line, as code.
func code(text string) string {
	text = strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
	fence := fence(text, "`")
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// block returns a text from outside as a block of code.
func block(text string) string {
	fence := fence(text, "```")
	return fence + "\n" + text + "\n" + fence
}

// fence returns a run of backticks that a text does not contain, at least as long as least.
func fence(text, least string) string {
	for strings.Contains(text, least) {
		least += "`"
	}
	return least
}
