// Package builtin has tools that many plans need: http.get, file.read, file.write, dir.list,
// text.template, time.now and wait. Package jq below it has json.query.
//
//	read, err := builtin.New("file.read", builtin.Config{Paths: []string{"./data"}})
//
// A tool exists only if it is granted by name, and the Config bounds what it can reach: http.get
// reaches only the hosts in it, with the checks of package tool/http; the tools for files stay
// within the folders in it, even if links lead out of them (os.Root). Results are bounded by
// Config.MaxBytes. Tools are immutable, and their calls may run at once.
package builtin
