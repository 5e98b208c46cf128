package journal

// child does what a test runs this program again for; false when it is a test.
func child(args []string) bool { return false }
