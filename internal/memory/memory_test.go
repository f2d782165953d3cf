package memory

import (
	"runtime"
	"testing"
	"testing/fstest"
)

func TestFree(t *testing.T) {
	const machine = "MemTotal:  9000 kB\nMemAvailable:  4000 kB\nSwapFree: 9000 kB\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  Room
		known bool
	}{
		{"nothing is known", nil, Room{}, false},
		{"machine", map[string]string{"proc/meminfo": machine}, Room{4000 << 10, "this machine"}, true},
		{"version 2", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/job/step\n",
			"sys/fs/cgroup/job/step/memory.max": "max\n", "sys/fs/cgroup/job/step/memory.current": "7\n",
			"sys/fs/cgroup/job/memory.max": "1000000\n", "sys/fs/cgroup/job/memory.current": "600000\n",
			"sys/fs/cgroup/job/memory.stat": "anon 1\ninactive_file 50000\nactive_file 20000\n",
		}, Room{470000, "the control group /job"}, true},
		{"version 2, root of a container", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "1100\n",
		}, Room{0, "the control group /"}, true},
		{"version 1 of a host with both", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "3000000\n", "sys/fs/cgroup/memory/a/b/memory.usage_in_bytes": "1000000\n",
			"sys/fs/cgroup/memory/a/b/memory.stat":       "inactive_file 9\ntotal_inactive_file 100\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
		}, Room{2000100, "the control group /a/b"}, true},
		{"a group with more than the machine", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "9000000000\n", "sys/fs/cgroup/a/memory.current": "0\n",
		}, Room{4000 << 10, "this machine"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := make(fstest.MapFS)
			for name, text := range c.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got, known := free(root); got != c.want || known != c.known {
				t.Errorf("free: %+v, %v, want %+v, %v", got, known, c.want, c.known)
			}
		})
	}
}

// TestFreeHere asks the system that runs the test.
func TestFreeHere(t *testing.T) {
	room, known := Free()
	if known != (runtime.GOOS == "linux") || known && (room.Bytes < 1<<20 || room.Bytes > 1<<50) {
		t.Errorf("on %s: %+v, %v", runtime.GOOS, room, known)
	}
}
