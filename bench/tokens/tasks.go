package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

type object = map[string]any

// A task is what a person wants of an agent, done in both ways.
type task struct {
	name   string
	search string // what the agent looks for before it plans
	direct func(call func(name string, args object) (gjson.Result, error)) error
	plan   object
	asks   bool // a call of the plan waits for a person
}

var cities = []string{"bergen", "cairo", "delhi", "lima", "oslo", "paris", "rome", "tokyo"}

// furnish makes the files that the tasks are about.
func furnish(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]string{}
	for i, c := range cities {
		files[c+".md"] = fmt.Sprintf("# %s\npopulation: %d\n\n%s", c, 100_000*(i+3),
			strings.Repeat(fmt.Sprintf("%s has streets, a river, two stations and a market on Saturdays.\n", c), 20))
	}
	var log strings.Builder
	for i := range 300 {
		fmt.Fprintf(&log, "2026-11-%02d 12:%02d:00 request %d was answered in %d ms\n", 1+i%28, i%60, i, i*7%97)
	}
	files["server.log"] = log.String()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// steps makes a plan of calls and what the agent wants to know.
func steps(output any, calls ...object) object { return object{"calls": calls, "output": output} }

// step is a call of a plan, whose result is written below state.
func step(to, tool string, params object) object {
	call := object{"_tool": tool}
	for name, value := range params {
		call[name] = value
	}
	if to != "" {
		call["_outputPath"] = "†state." + to
	}
	return call
}

// each makes a task that makes the same call for each of several things, and wants to know the
// results.
func each(name, search, tool string, asks bool, params []object) *task {
	var calls []object
	output := object{}
	for i, p := range params {
		to := fmt.Sprintf("r%d", i)
		calls = append(calls, step(to, tool, p))
		output[to] = "†state." + to
	}
	if asks { // a change is known by its success
		output = object{"done": "†state.r0"}
	}
	return &task{name: name, search: search, asks: asks, plan: steps(output, calls...), direct: func(call func(string, object) (gjson.Result, error)) error {
		for _, p := range params {
			if _, err := call(tool, p); err != nil {
				return err
			}
		}
		return nil
	}}
}

// A call of copies reads a file; its text is what the second one writes.
func copies(name string, files map[string]string, order []string) *task {
	var calls []object
	for i, from := range order {
		to := fmt.Sprintf("f%d", i)
		calls = append(calls, step(to, "read_text_file", object{"path": from}),
			step("", "write_file", object{"path": files[from], "content": "†state." + to + ".content"}))
	}
	return &task{name: name, search: "read write file", asks: true, plan: steps("copied", calls...), direct: func(call func(string, object) (gjson.Result, error)) error {
		for _, from := range order {
			text, err := call("read_text_file", object{"path": from})
			if err != nil {
				return err
			}
			if _, err := call("write_file", object{"path": files[from], "content": text.Get("content").Str}); err != nil {
				return err
			}
		}
		return nil
	}}
}

// remembers reads files and remembers their texts.
func remembers(name string, files []string) *task {
	var calls []object
	var entities []object
	for i, f := range files {
		to := fmt.Sprintf("f%d", i)
		calls = append(calls, step(to, "read_text_file", object{"path": f + ".md"}))
		entities = append(entities, object{"name": f, "entityType": "city", "observations": []any{"†state." + to + ".content"}})
	}
	calls = append(calls, step("made", "create_entities", object{"entities": entities}))
	return &task{name: name, search: "read text file create entities", plan: steps(object{"made": "†state.made.entities[*].name"}, calls...), direct: func(call func(string, object) (gjson.Result, error)) error {
		var entities []object
		for _, f := range files {
			text, err := call("read_text_file", object{"path": f + ".md"})
			if err != nil {
				return err
			}
			entities = append(entities, object{"name": f, "entityType": "city", "observations": []string{text.Get("content").Str}})
		}
		_, err := call("create_entities", object{"entities": entities})
		return err
	}}
}

// one makes a task of calls that use nothing of each other, of whose results the agent wants only
// what output names.
func one(name, search string, asks bool, output any, calls ...object) *task {
	plain := make([]object, len(calls))
	for i, c := range calls {
		plain[i] = object{}
		for k, v := range c {
			if !strings.HasPrefix(k, "_") {
				plain[i][k] = v
			}
		}
	}
	return &task{name: name, search: search, asks: asks, plan: steps(output, calls...), direct: func(call func(string, object) (gjson.Result, error)) error {
		for i, c := range calls {
			if _, err := call(c["_tool"].(string), plain[i]); err != nil {
				return err
			}
		}
		return nil
	}}
}

// after says that a call follows another one.
func after(c object, id string) object { c["_dependsOn"] = []string{id}; return c }

func named(c object, id string) object { c["_id"] = id; return c }

// paths returns params with a path for each city.
func paths(more object) (all []object) {
	for _, c := range cities {
		p := object{"path": c + ".md"}
		for k, v := range more {
			p[k] = v
		}
		all = append(all, p)
	}
	return all
}

func tasks() []*task {
	backup := map[string]string{}
	var notes []string
	for _, c := range cities {
		notes = append(notes, c+".md")
		backup[c+".md"] = "backup/" + c + ".md"
	}
	var edits, moves, sums, dirs []object
	for _, c := range cities[:3] {
		edits = append(edits, object{"path": c + ".md", "edits": []object{{"oldText": "# " + c, "newText": "# City of " + c}}})
		moves = append(moves, object{"source": "backup/" + c + ".md", "destination": "archive/" + c + ".md"})
	}
	for i := range 6 {
		sums = append(sums, object{"a": i, "b": 10 * i})
	}
	for _, d := range []string{"backup", "archive", "reports", "drafts"} {
		dirs = append(dirs, object{"path": d})
	}
	tree := &task{
		name: "write an index of the folder", search: "directory tree write file", asks: true,
		plan: steps("written", step("tree", "directory_tree", object{"path": "."}),
			step("", "write_file", object{"path": "index.json", "content": "†state.tree.content"})),
		direct: func(call func(string, object) (gjson.Result, error)) error {
			text, err := call("directory_tree", object{"path": "."})
			if err == nil {
				_, err = call("write_file", object{"path": "index.json", "content": text.Get("content").Str})
			}
			return err
		},
	}
	observe := &task{
		name: "add the log's end to what is known", search: "read text file add observations", asks: false,
		plan: steps(object{"added": "†state.added.results[0].entityName"}, step("log", "read_text_file", object{"path": "server.log", "tail": 40}),
			step("added", "add_observations", object{"observations": []object{{"entityName": "oslo", "contents": []any{"†state.log.content"}}}})),
		direct: func(call func(string, object) (gjson.Result, error)) error {
			text, err := call("read_text_file", object{"path": "server.log", "tail": 40})
			if err == nil {
				_, err = call("add_observations", object{"observations": []object{{"entityName": "oslo", "contents": []string{text.Get("content").Str}}}})
			}
			return err
		},
	}
	return []*task{
		each("make four folders", "create directory", "create_directory", false, dirs),
		each("the first lines of eight notes", "read text file", "read_text_file", false, paths(object{"head": 2})),
		each("sizes and dates of eight notes", "file info", "get_file_info", false, paths(nil)),
		each("six sums", "sum numbers", "get-sum", false, sums),
		copies("copy a note", map[string]string{"oslo.md": "drafts/oslo.md"}, []string{"oslo.md"}),
		copies("copy a log of 300 lines", map[string]string{"server.log": "backup/server.log"}, []string{"server.log"}),
		copies("back up eight notes", backup, notes),
		remembers("remember a note", cities[:1]),
		remembers("remember seven notes", cities[1:]),
		one("how cities relate", "create relations", false, object{"made": "†state.made.relations"},
			step("made", "create_relations", object{"relations": []object{{"from": "oslo", "to": "rome", "relationType": "is colder than"}, {"from": "rome", "to": "cairo", "relationType": "is colder than"}}})),
		one("names of all that is known", "read graph", false, object{"names": "†state.graph.entities[*].name"}, step("graph", "read_graph", object{})),
		one("which notes speak of a river", "search nodes", false, object{"names": "†state.found.entities[*].name"}, step("found", "search_nodes", object{"query": "river"})),
		observe,
		one("how warm three cities are", "structured content weather", false, object{"ny": "†state.a.temperature", "chicago": "†state.b.temperature", "la": "†state.c.temperature"},
			step("a", "get-structured-content", object{"location": "New York"}), step("b", "get-structured-content", object{"location": "Chicago"}), step("c", "get-structured-content", object{"location": "Los Angeles"})),
		each("change the titles of three notes", "edit file", "edit_file", true, edits),
		each("move three notes", "move file", "move_file", true, moves),
		tree,
		one("forget two cities, and name the others", "delete entities read graph", true, object{"names": "†state.graph.entities[*].name"},
			named(step("gone", "delete_entities", object{"entityNames": []string{"lima", "delhi"}}), "forget"), after(step("graph", "read_graph", object{}), "forget")),
		one("find notes, and list the archive", "search files list directory", false, object{"found": "†state.found.content", "archive": "†state.list.content"},
			step("found", "search_files", object{"path": ".", "pattern": "**/*.md"}), step("list", "list_directory", object{"path": "archive"})),
		one("read all notes at once and echo a word", "read multiple files echo", false, object{"echo": "†state.echo"},
			step("all", "read_multiple_files", object{"paths": notes}), step("echo", "echo", object{"message": "done"})),
	}
}
