package host

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/orwl/go-orwl/net/topology"
	"pgregory.net/rapid"
)

// with replaces some files. Empty content removes a file or a folder.
func with(files fstest.MapFS, changes map[string]string) fstest.MapFS {
	for path, content := range changes {
		if content == "" {
			maps.DeleteFunc(files, func(name string, _ *fstest.MapFile) bool { return strings.HasPrefix(name, path) })
			continue
		}
		files[path] = &fstest.MapFile{Data: []byte(content)}
	}
	return files
}

func TestDetectMachines(t *testing.T) {
	// Each of two processors has two memory nodes inside one cache.
	subNUMA := smp(2, 2, 1, 2, 1)
	for cpu, at := range subNUMA {
		at.cache = at.socket
		subNUMA[cpu] = at
	}
	// Firmware can pretend that all sockets have one memory node.
	oneNode := smp(2, 1, 1, 2, 1)
	for cpu, at := range oneNode {
		at.node = 0
		oneNode[cpu] = at
	}
	// Two sockets share a memory node. No tree can show this.
	astride := smp(2, 2, 1, 2, 1)
	for cpu, node := range []int{0, 0, 1, 1, 1, 1, 2, 2} {
		at := astride[cpu]
		at.node, at.cache = node, at.socket
		astride[cpu] = at
	}
	// Two fast cores with two threads each, and four slow ones with one.
	hybrid := fixture{}
	for cpu, core := range []int{0, 0, 1, 1, 2, 3, 4, 5} {
		hybrid[cpu] = placement{core: core}
	}

	for _, test := range []struct {
		name    string
		files   fstest.MapFS
		allowed string // the affinity; empty if unknown
		want    string
		cpus    []int
	}{
		{"one CPU", smp(1, 1, 1, 1, 1).files(), "", "core:1", []int{0}},
		{"one core, two threads", smp(1, 1, 1, 1, 2).files(), "", "thread:2", []int{0, 1}},
		{"two cores", smp(1, 1, 1, 2, 1).files(), "", "core:2", []int{0, 1}},
		{"two sockets, each a NUMA node, two threads", smp(2, 1, 1, 2, 2).files(), "",
			"socket:2 core:2 thread:2", []int{0, 4, 1, 5, 2, 6, 3, 7}},
		{"two sockets, two NUMA nodes each, two threads", smp(2, 2, 1, 2, 2).files(), "",
			"socket:2 numa:2 core:2 thread:2", []int{0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}},
		{"several caches in a socket", smp(2, 1, 4, 2, 1).files(), "",
			"socket:2 cache:4 core:2", upTo(16)},
		{"everything at once", smp(2, 2, 2, 2, 2).files(), "",
			"socket:2 numa:2 cache:2 core:2 thread:2", nil},
		{"NUMA nodes inside a cache", subNUMA.files(), "", "socket:2 numa:2 core:2", upTo(8)},
		{"a NUMA node over all sockets", oneNode.files(), "", "socket:2 core:2", upTo(4)},
		{"a NUMA node astride two sockets", astride.files(), "", "socket:2 numa:2 core:2", upTo(8)},
		{"fast and slow cores", hybrid.files(), "", "core:6 thread:2*2+1*4", upTo(8)},
		{"affinity to one socket", smp(2, 1, 1, 2, 2).files(), "2,3,6,7", "core:2 thread:2", []int{2, 6, 3, 7}},
		{"affinity to one thread of each core", smp(2, 1, 1, 2, 2).files(), "0-3", "socket:2 core:2", upTo(4)},
		{"affinity to parts of both sockets", smp(2, 1, 1, 4, 1).files(), "1,4-6", "socket:2 core:1+3", []int{1, 4, 5, 6}},
		{"affinity to one CPU of each socket", smp(2, 1, 1, 4, 1).files(), "1,6", "core:2", []int{1, 6}},
		{"offline second threads", smp(2, 1, 1, 2, 2).offline(4, 5, 6, 7).files(), "", "socket:2 core:2", upTo(4)},
		{"an offline first thread", smp(1, 1, 1, 2, 2).offline(0).files(), "", "core:2 thread:2+1", []int{1, 3, 2}},
		{"no list of CPUs online", with(smp(2, 1, 1, 2, 2).offline(7).files(), map[string]string{cpuDir + "/online": ""}), "",
			"socket:2 core:2 thread:2*3+1", []int{0, 4, 1, 5, 2, 6, 3}},
		{"no NUMA", with(smp(2, 2, 1, 2, 1).files(), map[string]string{"sys/devices/system/node": ""}), "",
			"socket:2 cache:2 core:2", upTo(8)},
		{"blank files", with(smp(2, 1, 1, 2, 1).files(), map[string]string{
			cpuDir + "/cpu0/topology/physical_package_id": "\n", cpuDir + "/cpu1/topology/physical_package_id": " "}), "",
			"socket:2 core:2", upTo(4)},
		{"no files but the affinity", fstest.MapFS{}, "3,5-7", "core:4", []int{3, 5, 6, 7}},
		{"files of another machine", smp(1, 1, 1, 2, 1).files(), "6-7", "core:2", []int{6, 7}},
	} {
		t.Run(test.name, func(t *testing.T) {
			allowed, err := parseCPUs(test.allowed)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := detect(test.files, allowed)
			if err != nil {
				t.Fatal(err)
			}
			if tree.String() != test.want || test.cpus != nil && !slices.Equal(cpusOf(tree), test.cpus) {
				t.Errorf("%s on CPUs %v, want %s on %v", tree, cpusOf(tree), test.want, test.cpus)
			}
			checkParses(t, tree)
		})
	}
}

func TestDetectInsideCpuset(t *testing.T) {
	v2 := func(group, path, list string) map[string]string {
		return map[string]string{"proc/self/cgroup": "0::" + group + "\n", path: list}
	}
	for name, test := range map[string]struct {
		changes map[string]string
		want    string
	}{
		"version 2":                            {v2("/job", cgroupDir+"/job/cpuset.cpus.effective", "0-1\n"), "core:2"},
		"version 2, own namespace":             {v2("/", cgroupDir+"/cpuset.cpus.effective", "0-1\n"), "core:2"},
		"version 2, path as seen outside":      {v2("/machine/pod/job", cgroupDir+"/cpuset.cpus.effective", "2-3\n"), "core:2"},
		"version 2, group above confines":      {v2("/a/b/c", cgroupDir+"/a/cpuset.cpus.effective", "0,4\n"), "thread:2"},
		"version 2, path leaves the namespace": {v2("/../../x", cgroupDir+"/x/cpuset.cpus.effective", "0\n"), "core:1"},
		"version 1": {map[string]string{
			"proc/self/cgroup":                "9:cpu,cpuacct:/\n8:cpuset:/docker/1\n0::/\n",
			cgroupDir + "/cpuset/cpuset.cpus": "0-7\n", cgroupDir + "/cpuset/docker/1/cpuset.cpus": "1-3\n",
		}, "socket:2 core:1+2"},
		"version 1, effective": {map[string]string{
			"proc/self/cgroup":                          "4:cpuset,cpu:/\n",
			cgroupDir + "/cpuset/cpuset.cpus":           "\n",
			cgroupDir + "/cpuset/cpuset.effective_cpus": "0,2\n",
		}, "core:2"},
		"both": {map[string]string{
			"proc/self/cgroup":                "3:cpuset:/\n0::/job\n",
			cgroupDir + "/cpuset/cpuset.cpus": "0-3\n", cgroupDir + "/unified/job/cpuset.cpus.effective": "2-7\n",
		}, "core:2"},
		"nothing to read":   {map[string]string{"proc/self/cgroup": ""}, "socket:2 core:2 thread:2"},
		"strange lines":     {map[string]string{"proc/self/cgroup": "\nx\n1:\n::\n"}, "socket:2 core:2 thread:2"},
		"a set of no CPUs":  {v2("/job", cgroupDir+"/job/cpuset.cpus.effective", "\n"), "socket:2 core:2 thread:2"},
		"a foreign cpuset":  {v2("/job", cgroupDir+"/job/cpuset.cpus.effective", "64-71\n"), "socket:2 core:2 thread:2"},
		"file, not a group": {v2("/job", cgroupDir+"/job", "x"), "socket:2 core:2 thread:2"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := detect(with(smp(2, 1, 1, 2, 2).files(), test.changes), nil)
			if err != nil || tree.String() != test.want {
				t.Errorf("%v, %v; want %s", tree, err, test.want)
			}
		})
	}
}

func TestDetectError(t *testing.T) {
	const hint = `: describe the machine instead, as in topology.Parse("socket:2 core:8")`
	cpu1 := cpuDir + "/cpu1"
	for path, test := range map[string]struct{ content, why string }{
		cpuDir + "/online":                      {"0-x", `"0-x" is not a list of CPU numbers below 16384`},
		cpu1 + "/topology/physical_package_id":  {"zero", `"zero" is not a number`},
		cpu1 + "/topology/thread_siblings_list": {"0-99999999", `"0-99999999" is not a list of CPU numbers below 16384`},
		cpu1 + "/cache/index3/level":            {"three", `"three" is not a number`},
		cpu1 + "/cache/index3/shared_cpu_list":  {"3-1", `"3-1" is not a list of CPU numbers below 16384`},
		"sys/devices/system/node/node0/cpulist": {"?", `"?" is not a list of CPU numbers below 16384`},
		cgroupDir + "/cpuset.cpus.effective":    {"all", `"all" is not a list of CPU numbers below 16384`},
	} {
		tree, err := detect(with(smp(1, 1, 1, 2, 1).files(), map[string]string{path: test.content}), nil)
		var failed *DetectError
		want := "host: cannot detect this machine: /" + path + ": " + test.why + hint
		if !errors.As(err, &failed) || err.Error() != want {
			t.Errorf("%v and error\n%v\nwant\n%s", tree, err, want)
		}
	}
	want := "host: cannot detect this machine: neither the affinity nor /sys/devices/system/cpu lists the CPUs" + hint
	if _, err := detect(fstest.MapFS{}, nil); err == nil || err.Error() != want {
		t.Errorf("nothing to read gives\n%v\nwant\n%s", err, want)
	}
}

func TestDetectHere(t *testing.T) {
	tree, err := Detect()
	if err != nil {
		t.Fatal(err)
	}
	checkParses(t, tree)
	seen := map[int]bool{}
	for p := range topology.Rank(tree.Ranks()) {
		cpu, ok := tree.CPU(p)
		if ok != (runtime.GOOS == "linux") || seen[cpu] && ok {
			t.Errorf("rank %d is on CPU %d, %v; taken before: %v", p, cpu, ok, seen[cpu])
		}
		seen[cpu] = true
	}
	t.Log("\n" + tree.Picture())
}

// TestDetectAgainstReference scatters CPU numbers over an irregular machine. Then
// it checks what any two CPUs share by the tree.
func TestDetectAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 3)
		m, ids := fixture{}, rapid.Permutation(upTo(162)).Draw(t, "numbers")
		var at placement
		for at.socket = range parts.Draw(t, "sockets") {
			for range parts.Draw(t, "nodes") {
				at.node++
				for range parts.Draw(t, "caches") {
					at.cache++
					for range parts.Draw(t, "cores") {
						at.core++
						for range rapid.IntRange(1, 2).Draw(t, "threads") {
							at.offline = rapid.IntRange(0, 4).Draw(t, "offline") == 0
							m[ids[len(m)]] = at
						}
					}
				}
			}
		}
		allowed := m.where(func(placement) bool { return rapid.Bool().Draw(t, "allowed") })
		usable := narrow(allowed, m.where(func(placement) bool { return true }))
		tree, err := detect(m.files(), allowed)
		if usable == nil {
			if err == nil {
				t.Fatalf("%s, want an error because no CPU is usable", tree)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkParses(t, tree)
		if sorted := slices.Sorted(slices.Values(cpusOf(tree))); !slices.Equal(sorted, slices.Collect(usable.all)) {
			t.Fatalf("ranks are on %v, want %v", sorted, usable)
		}
		for a := range topology.Rank(tree.Ranks()) {
			for b := range a {
				checkShared(t, tree, m, a, b)
			}
		}
		checkEveryLevelTells(t, tree)
	})
}

// checkShared checks, for each level of the tree, that two CPUs are in one element
// if and only if they share the thing on the machine.
func checkShared(t *rapid.T, tree *topology.Tree, m fixture, a, b topology.Rank) {
	cpuA, _ := tree.CPU(a)
	cpuB, _ := tree.CPU(b)
	x, y := m[cpuA], m[cpuB]
	shared := map[string]bool{"socket": x.socket == y.socket, "numa": x.node == y.node, "cache": x.cache == y.cache, "core": x.core == y.core}
	for i := 2; i <= tree.Levels(); i++ {
		name := tree.LevelName(i)
		if together := tree.Element(a, i) == tree.Element(b, i); together != shared[name] {
			t.Fatalf("CPUs %d and %d: in one %s element %v, share it %v", cpuA, cpuB, name, together, shared[name])
		}
	}
}

func checkEveryLevelTells(t *rapid.T, tree *topology.Tree) {
	for i := 2; i <= tree.Levels(); i++ {
		if tree.Elements(i) == tree.Elements(i-1) || tree.Elements(i) == tree.Ranks() {
			t.Fatalf("%s: level %s orders nothing", tree, tree.LevelName(i))
		}
	}
}
