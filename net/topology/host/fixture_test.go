package host

import (
	"fmt"
	"slices"
	"testing/fstest"

	"github.com/orwl/go-orwl/net/topology"
)

// fixture is a machine as its kernel describes it: the place of each CPU, by
// number. Two CPUs with the same socket, node, cache or core share it.
type fixture map[int]placement

type placement struct {
	socket, node, cache, core int
	offline                   bool
}

// smp is a regular machine. It numbers CPUs as firmware often does: the first
// threads of all cores, then the second threads.
func smp(sockets, nodes, caches, cores, threads int) fixture {
	m := fixture{}
	core := 0
	for s := range sockets {
		for n := range nodes {
			for c := range caches {
				for range cores {
					for thread := range threads {
						cpu := core + thread*sockets*nodes*caches*cores
						m[cpu] = placement{s, s*nodes + n, (s*nodes+n)*caches + c, core, false}
					}
					core++
				}
			}
		}
	}
	return m
}

// files is the machine's file system. The kernel lists and describes online CPUs
// only.
func (m fixture) files() fstest.MapFS {
	files := fstest.MapFS{}
	write := func(path string, content any) {
		files[path] = &fstest.MapFile{Data: fmt.Appendln(nil, content)}
	}
	write(cpuDir+"/online", m.where(func(placement) bool { return true }))
	for cpu, at := range m {
		dir := fmt.Sprintf("%s/cpu%d", cpuDir, cpu)
		if at.offline {
			write(dir+"/online", 0)
			continue
		}
		itself := m.where(func(p placement) bool { return p == at })
		sharers := m.where(func(p placement) bool { return p.cache == at.cache })
		write(dir+"/topology/physical_package_id", at.socket)
		write(dir+"/topology/thread_siblings_list", m.where(func(p placement) bool { return p.core == at.core }))
		for index, cache := range []struct {
			level   int
			kind    string
			sharers cpuSet
		}{{1, "Data", itself}, {1, "Instruction", itself}, {2, "Unified", itself}, {3, "Unified", sharers}} {
			write(fmt.Sprintf("%s/cache/index%d/level", dir, index), cache.level)
			write(fmt.Sprintf("%s/cache/index%d/type", dir, index), cache.kind)
			write(fmt.Sprintf("%s/cache/index%d/shared_cpu_list", dir, index), cache.sharers)
		}
		write(fmt.Sprintf("sys/devices/system/node/node%d/cpulist", at.node),
			m.where(func(p placement) bool { return p.node == at.node }))
	}
	write("sys/devices/system/node/online", "0")
	write("proc/self/cgroup", "0::/")
	return files
}

// where returns the online CPUs with a property.
func (m fixture) where(has func(placement) bool) (set cpuSet) {
	for cpu, at := range m {
		if !at.offline && has(at) {
			set = set.with(cpu)
		}
	}
	return set
}

// offline returns the machine with exactly these CPUs switched off.
func (m fixture) offline(cpus ...int) fixture {
	for cpu, at := range m {
		at.offline = slices.Contains(cpus, cpu)
		m[cpu] = at
	}
	return m
}

// cpusOf lists the CPUs of a tree's ranks.
func cpusOf(tree *topology.Tree) (cpus []int) {
	for p := range topology.Rank(tree.Ranks()) {
		if cpu, ok := tree.CPU(p); ok {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// checkParses requires that the tree's description makes an equal tree. The tests
// of package topology check the invariants of trees from descriptions.
func checkParses(t interface{ Fatalf(string, ...any) }, tree *topology.Tree) {
	again, err := topology.Parse(tree.String())
	if err != nil || again.String() != tree.String() {
		t.Fatalf("%s is described as %v, %v", tree, again, err)
	}
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}
