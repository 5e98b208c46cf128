package record

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Hostname returns the name of the machine.
func Hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "this machine"
	}
	return host
}

// BornAt returns when a process began, in the units of the system; 0 if there is no such process,
// or the system does not tell.
func BornAt(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text[max(0, bytes.LastIndexByte(text, ')')):], []byte(" ")) // the name of a process may contain anything
	fields := bytes.Fields(rest)
	if len(fields) < 20 || fields[0][0] == 'Z' { // a zombie counts as gone
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[19]), 10, 64)
	return n
}

// Place returns a name for the machine, or the container, in which the ids of processes are unique.
// It returns "" if the system does not tell.
func Place() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(boot)) + " " + space
}
