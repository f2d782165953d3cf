package archtest

import "strings"

// module is the import path of the tree that the rules are about.
const module = "github.com/orwl/go-orwl"

// layers is the architecture, from the bottom up. A package may import the
// packages named in its row, and those that every package may import; nothing else of
// this module. Its tests may import more: see allowsTest.
//
// The order is checked: a row names only rows above it.
var layers = []layer{
	// The ground: what a machine looks like, and what a window promises.
	{path: "internal/excerpt", pure: true},
	{path: "net/topology", pure: true, imports: "internal/excerpt"},
	{path: "net/topology/host", pure: true, imports: "net/topology"},
	{path: "net/rma", pure: true, imports: "net/topology"},
	{path: "internal/rings", testsOf: anything},
	{path: "internal/mutants", testsOf: anything, imports: "internal/rings"},
	{path: "internal/guests", testsOf: anything},
	{path: "internal/crew"},
	{path: "internal/freeport", testsOf: anything},
	{path: "internal/browser", testsOf: anything},
	{path: "internal/netns", testsOf: "net/rma"},
	{path: "net/rma/model", pure: true, imports: "net/topology"},
	{path: "net/rmatest", testsOf: "net/rma", imports: "net/rma net/topology"},

	// Remote windows without sockets: frames, and request and reply.
	{path: "net/wire", pure: true, imports: "net/rma"},
	{path: "net/engine", pure: true, imports: "net/wire net/rma"},

	// When a holder that hears nothing lets go, and its home gives it up.
	{path: "internal/leases", pure: true},

	// The windows. Any test that needs a world may use them.
	{path: "internal/park"},
	{path: "net/internal/considerate", pure: true},
	{path: "net/internal/patience", pure: true},
	{path: "net/internal/direct", imports: "internal/park net/internal/considerate net/internal/patience net/rma net/topology"},
	{path: "net/internal/extents", pure: true},
	{path: "net/mem", testsOf: "net/rma", imports: "net/internal/considerate net/internal/patience net/internal/direct internal/park net/rma net/topology"},
	{path: "net/shm", testsOf: "net/rma", imports: "net/internal/considerate net/internal/patience net/internal/direct net/internal/extents net/rma net/topology"},
	{path: "net/sim", testsOf: "net/rma", imports: "net/engine net/internal/considerate net/internal/patience net/rma/model net/rma net/topology"},
	{path: "net/sim/specimen", testsOf: "net/rma", pure: true, imports: "net/sim net/rma net/topology"},
	{path: "net/node", imports: "net/wire"},
	{path: "net/p2p/internal/ring", imports: "net/rma net/topology"}, // its tests play in net/sim
	{path: "net/p2p/internal/loan", imports: "net/p2p/internal/ring net/internal/extents net/wire net/rma"},
	{path: "net/p2p/internal/lease", pure: true, imports: "internal/leases net/p2p/internal/loan net/wire"},
	{path: "net/p2p/internal/transport"},
	{path: "net/p2p/internal/control", pure: true},
	{path: "net/p2p/internal/membership", pure: true},
	{path: "net/p2p/internal/gathering", pure: true, imports: "net/p2p/internal/membership"},
	{path: "net/p2p/internal/lane", imports: "net/node net/p2p/internal/loan net/p2p/internal/ring net/p2p/internal/transport net/engine net/wire net/rma"},
	{path: "net/p2p/internal/window", imports: "net/p2p/internal/control net/p2p/internal/lane net/p2p/internal/loan net/p2p/internal/transport internal/park net/mem net/shm net/engine net/wire net/rma net/topology"},
	{path: "net/p2p/p2ptest", testsOf: anything, imports: "net/p2p/internal/transport"},
	{path: "net/p2p/quic", testsOf: "net/rma", imports: "net/p2p/internal/transport"},
	{path: "net/p2p", testsOf: "net/rma", imports: "net/node net/p2p/internal/control net/p2p/internal/gathering net/p2p/internal/membership net/p2p/internal/lease net/p2p/internal/window net/p2p/internal/lane net/p2p/internal/loan net/p2p/internal/transport net/engine net/wire net/rma net/topology"},
	{path: "net/p2p/rendezvous", imports: "net/p2p/internal/transport"},

	// The library.
	{path: "internal/processor"},
	{path: "internal/faultpage", pure: true},
	{path: "internal/npy", pure: true},
	{path: "internal/outfile"},
	{path: "internal/zarr", imports: "internal/outfile"},
	{path: "internal/vtk", pure: true},
	{path: "locks", pure: true, imports: "net/rma net/topology"},
	{path: "internal/native"},
	{path: "locks/lockers", pure: true, imports: "internal/processor locks net/rma"},
	{path: "locks/lockstest", testsOf: "locks", imports: "locks net/rma net/rmatest net/topology"},
	{path: "locks/explore", testsOf: "locks", imports: "locks/lockstest locks net/sim net/rmatest net/rma net/topology"},
	{path: "internal/hugepage", pure: true},
	{path: "internal/rows", pure: true},
	{path: "internal/queue/coherence", pure: true, imports: "internal/hugepage"},
	{path: "internal/queue", pure: true, imports: "internal/queue/coherence internal/faultpage internal/park locks/lockers locks net/rma"},
	{path: "resource", pure: true, imports: "internal/queue"},
	{path: "orwl/liveness", testsOf: "internal/queue", pure: true, imports: "internal/excerpt internal/queue/coherence resource"},
	{path: "internal/typed", pure: true, imports: "internal/queue"},
	{path: "handle", pure: true, imports: "internal/queue internal/typed resource"},
	{path: "orwl/placement", pure: true, imports: "net/topology"},
	{path: "internal/terminal"},
	{path: "orwl/launch", imports: "internal/terminal"},
	{path: "internal/inner", testsOf: anything, imports: "internal/queue resource net/node"},
	{path: "orwl/session/internal/protocol", pure: true, imports: "internal/leases"},
	{path: "orwl/session", imports: "orwl/session/internal/protocol internal/queue net/node net/p2p/rendezvous net/p2p"},
	{path: "orwl/exact", pure: true},
	{path: "orwl/exact/internal/plain", testsOf: "orwl/exact"},
	{path: "orwl/internal/linked", imports: "net/node"},
	{path: "orwl/internal/balance", pure: true},
	{path: "orwl/internal/lives", pure: true, imports: "orwl/internal/balance"},
	{path: "orwl/internal/folder", pure: true, imports: "orwl/internal/lives"},
	{path: "orwl/internal/message", pure: true, imports: "orwl/internal/balance orwl/internal/lives"},
	{path: "orwl/internal/plan", pure: true, imports: "orwl/liveness internal/queue"},
	{path: "orwl/speed", pure: true, imports: "orwl/internal/plan orwl/liveness"},
	{path: "orwl/internal/books", imports: "internal/park orwl/internal/plan internal/queue"}, // its tests play in net/sim
	{path: "orwl/internal/versions", pure: true, imports: "orwl/internal/plan net/wire"},
	{path: "orwl/internal/spread", pure: true, imports: "orwl/internal/balance orwl/placement net/topology"},
	{path: "orwl/inspect", pure: true, imports: "orwl/internal/spread orwl/placement"},
	{path: "orwl/internal/looks", pure: true, imports: "orwl/inspect orwl/internal/spread internal/queue"},
	{path: "orwl/internal/ending", pure: true, imports: "internal/queue"},
	{path: "orwl/internal/goroutine", pure: true},
	{path: "orwl/nodes", testsOf: "net/node", imports: "orwl/internal/linked net/node net/p2p/rendezvous net/p2p"},
	{path: "orwl", imports: "orwl/exact orwl/inspect orwl/internal/ending orwl/internal/goroutine orwl/internal/looks orwl/internal/spread orwl/internal/balance orwl/internal/lives orwl/internal/folder orwl/internal/message orwl/internal/linked orwl/internal/plan orwl/internal/books orwl/internal/versions orwl/launch orwl/placement orwl/liveness net/topology/host " + belowOrwl},
	{path: "orwl/trace", imports: "internal/outfile orwl/internal/linked orwl " + belowOrwl},
	{path: "internal/port"},
	{path: "orwl/watch", imports: "internal/port orwl/inspect orwl/internal/linked orwl"},
	{path: "orwl/stencil/internal/inside", imports: "orwl"},
	{path: "orwl/stencil", imports: "internal/inner orwl/internal/balance orwl/stencil/internal/inside internal/hugepage internal/queue internal/rows internal/typed orwl orwl/exact handle resource"},
	{path: "orwl/stencil/picture"},
	{path: "orwl/stencil/files", imports: "internal/npy internal/zarr internal/vtk internal/outfile internal/typed orwl/stencil/internal/inside orwl/stencil"},
	{path: "orwl/internal/worlds", imports: "orwl/internal/folder orwl/internal/lives orwl/launch orwl/nodes orwl/stencil orwl resource"},
	{path: "orwl/stencil/show", imports: "orwl/stencil/files internal/inner internal/queue internal/outfile internal/terminal orwl/stencil/picture orwl/stencil/internal/inside orwl/stencil orwl/launch orwl/watch orwl resource"},
	{path: "metrics", imports: "internal/port orwl/watch orwl/inspect orwl " + belowOrwl},

	{path: "internal/promserver", testsOf: "metrics"},
	{path: "dashboards", imports: "metrics orwl " + belowOrwl},

	// The programs.
	{path: "internal/command", imports: "orwl/launch"},
	{path: "internal/command/commandtest", imports: "internal/command"},
	{path: "internal/monitor", imports: "internal/command metrics orwl/watch orwl orwl/launch"},
	{path: "examples", imports: anything},
	{path: "examples/internal/forms", imports: anything},
	{path: "examples/internal/same", imports: anything},
	{path: "examples/heat", imports: anything},
	{path: "examples/jacobi3d", imports: anything},
	{path: "examples/wave", imports: anything},
	{path: "examples/grayscott", imports: anything},
	{path: "examples/life", imports: anything},
	{path: "examples/gaussseidel", imports: anything},
	{path: "examples/filter", imports: anything},
	{path: "examples/redblack", imports: anything},
	{path: "examples/poisson", imports: anything},
	{path: "examples/pipelined", imports: anything},
	{path: "examples/multigrid", imports: anything},
	{path: "examples/power", imports: anything},
	{path: "examples/primes", imports: anything},
	{path: "examples/pairs", imports: anything},
	{path: "examples/mergesort", imports: anything},
	{path: "examples/cg", imports: anything},
	{path: "docs/pictures", imports: "orwl/trace"},
	{path: "examples/tutorial/draw", pure: true},
	{path: "examples/tutorial/step1", imports: anything},
	{path: "examples/tutorial/step2", imports: anything},
	{path: "examples/tutorial/step3", imports: anything},
	{path: "examples/tutorial/step3b", imports: anything},
	{path: "examples/tutorial/step4", imports: anything},
	{path: "examples/tutorial/step5", imports: anything},
	{path: "examples/tutorial/step6", imports: anything},
	{path: "apps/llk23", imports: anything},
	{path: "apps/dht/volume", pure: true, imports: "locks net/rma net/topology"},
	{path: "apps/dht/budget", pure: true},
	{path: "apps/dht/table", imports: anything},
	{path: "apps/dht/resp", imports: anything},
	{path: "apps/dht", imports: anything},
	{path: "cmd/orwl", imports: anything},
	{path: "cmd/orwl/play", imports: "orwl/liveness internal/queue net/rma net/sim net/sim/specimen net/topology"},
	{path: "cmd/orwl/play/wasm", imports: "cmd/orwl/play"},
	{path: "deploy", imports: "orwl/launch"},

	// Beside the layers.
	{path: "internal/invariant", everybodys: true},
	{path: "internal/pack", pure: true, everybodys: true},
	{path: "internal/tally", pure: true, everybodys: true},
	{path: "internal/archtest", testsOf: anything},
	{path: "internal/memory"},
	{path: "internal/pages"},
}

// laboratory are the rows of the folder lab, a module of its own. It imports what it likes of the rows above, and
// none of these imports it. Its parts point down, too.
var laboratory = []layer{
	{path: "lab/printed", pure: true, imports: "locks net/rma net/topology"},
	{path: "lab/epoch", pure: true, imports: "net/rma"},
	{path: "lab/meter", pure: true, imports: "lab/epoch net/rma/model net/rma net/topology"},
	{path: "lab", pure: true, imports: "lab/printed lab/epoch locks net/rma net/topology"},
	{path: "lab/arena", imports: "internal/memory lab locks net/p2p net/sim net/shm net/mem net/rma/model net/rma net/topology"},
	{path: "lab/peers", imports: "internal/native lab/arena lab locks net/rma net/topology"},
	{path: "lab/report", pure: true, imports: "lab"},
	{path: "lab/tune", imports: "lab/arena lab locks net/rma/model net/topology"},
	{path: "lab/claims", imports: "lab/arena lab/report lab locks net/sim net/rma/model net/topology"},
	{path: "lab/taskbench", imports: "internal/native handle orwl resource"},
	{path: "lab/fair", imports: "internal/native lab/taskbench locks net/mem net/topology orwl/stencil orwl"},
	{path: "lab/experiments", imports: anything},
	{path: "lab/steady"},
	{path: "lab/cmd/orwl-lab", imports: anything},
}

const (
	anything  = "anything"
	belowOrwl = "internal/inner handle resource internal/queue internal/typed locks/lockers locks " +
		"net/node net/sim net/shm net/mem net/engine net/wire net/rma net/topology"
)

// owners are the packages that alone may import a module of others, with their
// subfolders, by the beginning of its import paths.
var owners = map[string]string{
	"github.com/libp2p/": "net/p2p",
}

// noPackage are folders that hold packages and no Go file of their own, and why.
var noPackage = map[string]string{
	"net": "a package net would shadow the standard library's",
}

// A layer is a row of the table.
type layer struct {
	path    string // folder below the module's root
	imports string // the folders that it may import, separated by spaces, or anything

	// pure code is a state machine: the rules in pure_test.go hold for it.
	pure bool

	// testsOf names the package whose tests, and the tests of everything that
	// stands on it, may import this one. With anything, all tests may.
	testsOf string

	// everybodys may be imported by all.
	everybodys bool
}

// row is the row of the package in the folder path, or nil.
func row(path string) *layer {
	for _, table := range [][]layer{layers, laboratory} {
		for i := range table {
			if table[i].path == path {
				return &table[i]
			}
		}
	}
	return nil
}

// inLaboratory reports whether a folder belongs to the laboratory.
func inLaboratory(path string) bool { return path == "lab" || strings.HasPrefix(path, "lab/") }

// allows reports whether l's own code may import the package to.
func (l *layer) allows(to *layer) bool {
	if to.everybodys || l.imports == anything {
		return true
	}
	for _, path := range strings.Fields(l.imports) {
		if path == to.path {
			return true
		}
	}
	return false
}

// allowsTest reports whether l's tests may import the package to: l itself, whatever
// l stands on, and the suites and worlds made for the tests of any of those. So
// net/mem's tests find net/rmatest, and handle's find locks/lockstest, but
// net/rma's do not, and none finds anything above it.
func (l *layer) allowsTest(to *layer) bool {
	return to.everybodys || l.standsOn(to.path) || to.testsOf == anything || to.testsOf != "" && l.standsOn(to.testsOf)
}

// standsOn reports whether path is l or is below it.
func (l *layer) standsOn(path string) bool {
	if l.path == path || l.imports == anything {
		return true
	}
	for _, below := range strings.Fields(l.imports) {
		if row(below).standsOn(path) {
			return true
		}
	}
	return false
}
