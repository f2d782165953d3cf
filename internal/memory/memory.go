package memory

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// Room is how much memory is free, and who limits it.
type Room struct {
	Bytes int64
	Of    string // "this machine" or "the control group /a/b"
}

// Free is the least room that the machine and the control groups of this process leave. Memory that
// only caches files counts as free, because the kernel gives it up. Swap space does not count. It is
// false where the system does not tell.
func Free() (Room, bool) { return free(os.DirFS("/")) }

// free is Free where root has the files of the system.
func free(root fs.FS) (least Room, known bool) {
	if kib, ok := field(root, "proc/meminfo", "MemAvailable:"); ok {
		least, known = Room{kib << 10, "this machine"}, true
	}
	text, _ := fs.ReadFile(root, "proc/self/cgroup") // none: no groups
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		for i, v := range versions {
			if i == 0 && parts[1] != "" || i == 1 && !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			// A group has no more than those above it. A container may see itself as the root.
			for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
				if bytes, ok := v.free(root, group); ok && (!known || bytes < least.Bytes) {
					least, known = Room{bytes, "the control group " + group}, true
				}
				if group == "/" {
					break
				}
			}
		}
	}
	return least, known
}

// version is how a version of control groups calls its files.
type version struct {
	folder, limit, used string
	caches              [2]string // of memory.stat: what the kernel gives up
}

var versions = [...]version{
	{"sys/fs/cgroup", "memory.max", "memory.current", [2]string{"inactive_file", "active_file"}},
	{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", [2]string{"total_inactive_file", "total_active_file"}},
}

// free is what a group leaves. It is false if the group has no limit.
func (v version) free(root fs.FS, group string) (bytes int64, ok bool) {
	at := func(file string) string { return path.Join(v.folder, group, file) }
	limit, limited := number(root, at(v.limit))
	used, known := number(root, at(v.used))
	if !limited || !known {
		return 0, false
	}
	for _, name := range v.caches {
		cached, _ := field(root, at("memory.stat"), name) // 0 if there is none
		used -= cached
	}
	return max(0, limit-used), true
}

// number is the content of a file, if that is a number.
func number(root fs.FS, file string) (int64, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return n, err == nil
}

// field is the number behind a name in a file of names and numbers.
func field(root fs.FS, file, name string) (int64, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
