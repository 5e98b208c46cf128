// Package builtin has tools for what plans need all the time, so that nobody has to write
// them: http.get, file.read, file.write, dir.list, text.template, time.now and wait. Package
// jq below it has json.query.
//
//	read, err := builtin.New("file.read", builtin.Config{Paths: []string{"./data"}})
//
// None of them is there unless it is granted, by name, and what they reach is bounded by the
// Config: http.get asks the hosts that it names and no others, with the checks of package
// tool/http; the tools of files stay within the folders that it names, also where links lead out of
// them (os.Root). Results are bounded by Config.MaxBytes. Tools are immutable, and their calls may
// run at once.
package builtin
