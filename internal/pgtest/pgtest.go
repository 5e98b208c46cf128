// Package pgtest starts Postgres servers for tests, with the programs that Debian installs.
package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Password is the password of the user plc. Connections through the socket don't need it.
const Password = "s3cret&pg"

// A Server is a server with its own cluster in a temporary folder. It ends with the test.
type Server struct {
	Dir  string // has its socket
	Port int

	bin, data string
	settings  []string
	process   *exec.Cmd
	exited    chan struct{}
}

// programs returns the folder of Postgres's programs; "" when there are none.
func programs() string {
	if name, err := exec.LookPath("initdb"); err == nil {
		if name, err = filepath.EvalSymlinks(name); err == nil {
			return filepath.Dir(name)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// Start starts a server in a folder below dir; "" is the usual folder for temporary files. Without
// Postgres it skips the test. The settings are those of postgresql.conf, as name=value.
func Start(t testing.TB, dir string, settings ...string) *Server {
	t.Helper()
	s, err := start(dir, settings)
	if errors.Is(err, errNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Remove)
	return s
}

// errNone is the error when Postgres is not installed.
var errNone = errors.New("no Postgres here; on Debian: apt-get install postgresql")

// New starts a server that ends with Remove, with settings as Start takes them. The server is nil
// when there is no Postgres.
func New(settings ...string) (*Server, error) {
	s, err := start("", settings)
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return s, err
}

func start(dir string, settings []string) (*Server, error) {
	s := &Server{bin: programs(), settings: settings}
	if s.bin == "" {
		return nil, errNone
	}
	var err error
	if s.Dir, err = os.MkdirTemp(dir, "plc-pg"); err != nil {
		return nil, err
	}
	if s.Port, err = freePort(); err == nil {
		err = s.initialize()
	}
	if err == nil {
		err = s.Up()
	}
	if err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// command returns a program of Postgres, which refuses to run as root.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.Dir
	asOther(c)
	return c
}

// initialize makes the cluster.
func (s *Server) initialize() error {
	s.data = filepath.Join(s.Dir, "data")
	password := filepath.Join(s.Dir, "password")
	if err := os.WriteFile(password, []byte(Password+"\n"), 0o644); err != nil {
		return err
	}
	if err := giveToOther(s.Dir); err != nil {
		return err
	}
	out, err := s.command("initdb", "-D", s.data, "-U", "plc", "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+password, "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// Up starts the server again, and waits until it answers.
func (s *Server) Up() error {
	args := []string{"-D", s.data, "-p", strconv.Itoa(s.Port), "-k", s.Dir, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=60", "-c", "shared_buffers=16MB"}
	if !slices.ContainsFunc(s.settings, func(set string) bool { return strings.HasPrefix(set, "fsync=") }) {
		args = append(args, "-c", "fsync=off") // the tests kill processes, not the machine
	}
	for _, set := range s.settings {
		args = append(args, "-c", set)
	}
	c := s.command("postgres", args...)
	var log bytes.Buffer
	c.Stderr = &log
	if err := c.Start(); err != nil {
		return err
	}
	s.process, s.exited = c, make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		_ = c.Wait()
	}(s.exited)
	for {
		if s.command("pg_isready", "-q", "-h", s.Dir, "-p", strconv.Itoa(s.Port)).Run() == nil {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("postgres ended: %s", log.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// URL returns the URL of a schema in the database postgres, through the socket.
func (s *Server) URL(schema string) string {
	return fmt.Sprintf("postgres://plc@/postgres?host=%s&port=%d&search_path=%s", s.Dir, s.Port, schema)
}

// Kill kills all processes of the server at once.
func (s *Server) Kill() {
	pid := s.process.Process.Pid
	children := childrenOf(pid)
	_ = s.process.Process.Kill()
	for _, child := range children {
		if p, err := os.FindProcess(child); err == nil {
			_ = p.Kill()
		}
	}
	<-s.exited
	for _, child := range children { // they have ended when the memory that they share is gone
		for alive(child) {
			time.Sleep(5 * time.Millisecond)
		}
	}
	_ = os.Remove(filepath.Join(s.data, "postmaster.pid")) // by now its number may belong to another process
}

// Remove ends the server and removes its folder.
func (s *Server) Remove() {
	if s.process != nil {
		select {
		case <-s.exited:
		default:
			s.Kill()
		}
	}
	_ = os.RemoveAll(s.Dir)
}

// childrenOf returns the processes that a process has started.
func childrenOf(pid int) (all []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[max(0, bytes.LastIndexByte(text, ')')):]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			all = append(all, child)
		}
	}
	return all
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(text[max(0, bytes.LastIndexByte(text, ')')):]))
	return len(fields) > 1 && fields[1] != "Z"
}
