package sqlite

import "golang.org/x/sys/unix"

// isMounted reports whether a file is mounted by itself.
func isMounted(path string) bool {
	var at unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, 0, &at)
	return err == nil && at.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
