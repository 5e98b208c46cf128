package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp"
)

// serverVariable makes the test binary a language server, which editors start.
const serverVariable = "PLC_TEST_LSP"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) == "" {
		os.Exit(m.Run())
	}
	err := lsp.Serve(context.Background(), stdio{os.Stdin, os.Stdout}, lsp.Config{Environ: os.Environ(), Version: "test"})
	if errors.Is(err, lsp.ErrNoShutdown) {
		os.Exit(1)
	}
	os.Exit(0)
}

type stdio struct {
	io.Reader
	io.Writer
}

func (s stdio) Close() error { return os.Stdin.Close() }

// editor finds a program; without it the test is skipped, loudly.
func editor(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: there is no %s to test with; Debian has it", name)
	}
	return path
}

// neovim is an editor that runs without a terminal: keys go in, and what the screen shows comes
// out.
type neovim struct {
	t      *testing.T
	path   string
	socket string
	record strings.Builder // of the session
}

// startNeovim starts Neovim in a folder, with the language server for JSON.
func startNeovim(t *testing.T, dir string) *neovim {
	t.Helper()
	n := &neovim{t: t, path: editor(t, "nvim"), socket: filepath.Join(t.TempDir(), "nvim")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "init.lua")
	write(t, config, fmt.Sprintf(`
vim.o.completeopt = "menuone,noselect"
vim.o.swapfile = false
vim.o.columns = 110
vim.o.lines = 40
vim.o.autoindent = false
vim.env.%s = "1"
vim.api.nvim_create_autocmd("FileType", { pattern = "json", callback = function()
  local id = vim.lsp.start_client({ name = "plc", cmd = { %q }, root_dir = %q })
  vim.lsp.buf_attach_client(0, id)
  vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc"
  vim.bo.indentexpr = ""
end })
vim.ui.select = function(items, opts, on_choice) on_choice(items[1], 1) end
`, serverVariable, self, dir))
	cmd := exec.Command(n.path, "--headless", "-u", config, "-i", "NONE", "--listen", n.socket)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_RUNTIME_DIR="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the session:\n%s", n.record.String())
		}
	})
	n.until("it listens", func() bool { _, err := os.Stat(n.socket); return err == nil })
	return n
}

// until waits for something.
func (n *neovim) until(what string, is func() bool) {
	n.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if is() {
			return
		}
	}
	n.t.Fatalf("never: %s\n%s", what, n.screen())
}

func (n *neovim) remote(flag, arg string) string {
	n.t.Helper()
	out, err := exec.Command(n.path, "--server", n.socket, flag, arg).CombinedOutput()
	if err != nil {
		n.t.Fatalf("%s %s: %v: %s", flag, arg, err, out)
	}
	return string(out)
}

// keys types keys as Neovim writes them.
func (n *neovim) keys(keys string) {
	n.t.Helper()
	fmt.Fprintf(&n.record, "keys %s\n", keys)
	n.remote("--remote-send", keys)
}

// lua returns the value of an expression in Lua as JSON.
func (n *neovim) lua(expr string, result any) {
	n.t.Helper()
	file := n.socket + ".json" // what --remote-expr prints it cuts
	n.remote("--remote-expr", "writefile([json_encode(luaeval('"+strings.ReplaceAll(expr, "'", "''")+"'))], '"+file+"')")
	out, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(out, result)
	}
	if err != nil {
		n.t.Fatalf("%s: %v: %s", expr, err, out)
	}
}

// text returns the text that is edited.
func (n *neovim) text() string {
	var lines []string
	n.lua("vim.api.nvim_buf_get_lines(0, 0, -1, true)", &lines)
	return strings.Join(lines, "\n")
}

// screen returns what the screen shows.
func (n *neovim) screen() string {
	n.remote("--remote-expr", "execute('redraw')")
	var rows []string
	n.lua(`(function() local rows = {}
for r = 1, vim.o.lines do local row = {}
for c = 1, vim.o.columns do row[c] = vim.fn.screenstring(r, c) end
rows[r] = table.concat(row) end return rows end)()`, &rows)
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

// shows waits for a text on the screen, and records the screen.
func (n *neovim) shows(what string) {
	n.t.Helper()
	var screen string
	n.until("the screen shows "+what, func() bool { screen = n.screen(); return strings.Contains(screen, what) })
	fmt.Fprintf(&n.record, "%s\n", screen)
}

// typed types a text where every part in «» is chosen from what completion offers, and nothing of
// it is typed.
func (n *neovim) typed(text string) {
	n.t.Helper()
	for text != "" {
		before, rest, ok := strings.Cut(text, "«")
		if before != "" {
			n.keys(strings.NewReplacer("<BS>", "<BS>", "<", "<lt>", "\n", "<CR>", "†", "<C-k>/-").Replace(before))
		}
		if !ok {
			return
		}
		label, after, _ := strings.Cut(rest, "»")
		n.choose(label)
		text = after
	}
}

// choose asks for completion and takes what is offered by this name.
func (n *neovim) choose(label string) {
	n.t.Helper()
	n.keys("<C-x><C-o>")
	var offered []string
	at := -1
	n.until("completion offers "+label, func() bool {
		n.lua(`vim.tbl_map(function(i) return i.abbr end, vim.fn.complete_info({"items"}).items)`, &offered)
		for i, o := range offered {
			if o == label {
				at = i
			}
		}
		return at >= 0
	})
	fmt.Fprintf(&n.record, "%s\n", n.screen())
	n.keys(strings.Repeat("<C-n>", at+1) + "<C-y>")
}

// edit opens a file, and waits for the server.
func (n *neovim) edit(name string) {
	n.t.Helper()
	n.keys(":e " + name + "<CR>")
	n.until("the server is there", func() bool {
		var ready bool
		n.lua(`(function() for _, c in pairs(vim.lsp.buf_get_clients(0)) do return c.initialized == true end return false end)()`, &ready)
		return ready
	})
}

// The plan of the README is written in Neovim. Names of members, tools and outcomes, and every
// reference to a path that stands elsewhere, are chosen from what completion offers.
func TestNeovimWritesThePlan(t *testing.T) {
	dir := project(t)
	n := startNeovim(t, dir)
	n.edit("new.plan.json")
	n.keys("i")
	n.typed(`{
"«calls»[
{"«_tool»"«resolve», "«revision»"†input.revision || 'HEAD'", "«_outputPath»"†state.commit"},
{"«_tool»"«latestTag», "«commit»"«†state.commit», "«_outputPath»"†state.release || †state.unreleased"},
{"«_tool»"«countCommits», "«commit»"«†state.commit», "«_outputPath»"†state.commits"},
{"«_tool»"«author», "«commit»"«†state.commit», "«_outputPath»"«†state.author»},
{"«_tool»"«subjects», "«_id»"news", "«range»"†{«†state.release»}..†{«†state.commit»}", "«most»5, "«_outputPath»"†state.news"},
{"«_tool»"«subjects», "«_id»"everything", "«_when»"«†state.unreleased», "«range»"«†state.commit», "«most»5, "«_outputPath»"«†state.news»}
],
"«output»{
"title": "†{«†input.revision» || 'HEAD'} is †{«†state.commit»}, the last of †{«†state.commits»} commits",
"since": "«†state.release»<BS> || 'the first commit'",
"news": "«†state.news»,
"by": "«†state.author»
}
}`)
	n.keys("<Esc>:lua vim.lsp.buf.formatting_sync(nil, 60000)<CR>")
	want := strings.TrimRight(read(t, history+"plan.json"), "\n")
	n.until("the plan is that of the README", func() bool { return strings.TrimRight(n.text(), "\n") == want })
	n.shows(`"title": "†{input.revision`)
}

// The faulty plan of the README is repaired in Neovim by code actions alone.
func TestNeovimRepairsThePlan(t *testing.T) {
	dir := project(t)
	n := startNeovim(t, dir)
	n.edit("faulty.json")
	n.shows("nobody writes")
	for _, place := range []struct{ at, want string }{
		{"/countCommit\"<CR>", `"_tool": "countCommits"`},
		{"/comit\"<CR>", `"commit": "†state.commit"`},
		{"/most\"<CR>f†", `"most": "†state.commits"`},
	} {
		n.keys(place.at)
		n.keys(":lua vim.lsp.buf.code_action()<CR>")
		n.until("the text has "+place.want, func() bool { return strings.Contains(n.text(), place.want) })
		fmt.Fprintf(&n.record, "%s\n", n.screen())
	}
	n.until("no finding is left", func() bool {
		var left []string
		n.lua(`vim.tbl_map(function(d) return d.code or d.user_data.lsp.code end, vim.diagnostic.get(0))`, &left)
		return len(left) == 0
	})
}

// Emacs shows the findings of a plan, completes and formats, by eglot.
func TestEmacs(t *testing.T) {
	emacs := editor(t, "emacs")
	if exec.Command(emacs, "--batch", "--eval", "(require 'eglot)").Run() != nil && exec.Command(emacs, "--batch", "-f", "package-initialize", "--eval", "(require 'eglot)").Run() != nil {
		t.Skip("SKIPPED: this Emacs has no eglot; Debian has it as elpa-eglot")
	}
	dir := project(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "test.el")
	write(t, script, fmt.Sprintf(`
(package-initialize)
(require 'eglot)
(require 'js)
(setq eglot-autoshutdown nil eglot-connect-timeout 60 eglot-sync-connect t project-find-functions (list (lambda (d) (cons 'transient %[1]q))))
(add-to-list 'eglot-server-programs '(js-json-mode . (%[2]q)))
(add-to-list 'eglot-server-programs '(js-mode . (%[2]q)))
(defun wait (what) (let ((n 0)) (while (and (not (funcall what)) (< n 600)) (accept-process-output nil 0.1) (setq n (1+ n)))))
(find-file %[3]q)
(js-mode)
(apply #'eglot (let ((guess (eglot--guess-contact))) guess))
(wait (lambda () (flymake-diagnostics)))
(princ (format "findings %%s\n" (length (flymake-diagnostics))))
(goto-char (point-min))
(insert "// 𝛼\n")
(search-forward "\"countCommit\"")
(let* ((actions (eglot-code-actions (- (point) 4) (- (point) 3))))
  (eglot--apply-workspace-edit (plist-get (aref (vconcat actions) 0) :edit)))
(princ (format "repaired %%s\n" (and (string-match-p "\"countCommits\"" (buffer-string)) t)))
`, dir, self, filepath.Join(dir, "faulty.json")))
	cmd := exec.Command(emacs, "--batch", "-l", script)
	cmd.Env = append(os.Environ(), serverVariable+"=1", "HOME="+os.Getenv("HOME"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "findings 3") || !strings.Contains(string(out), "repaired t") {
		t.Errorf("%v\n%s", err, out)
	}
}
