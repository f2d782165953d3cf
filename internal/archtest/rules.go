package archtest

import "strings"

// module is the import path of the tree that the rules are about.
const module = "github.com/orwl/go-orwl"

// layers is the architecture, from the bottom up. A package may import the
// packages named in its row, and what everybody may import; nothing else of
// this module. Its tests may import more: see allowsTest.
//
// The order is checked: a row names only rows above it.
var layers = []layer{
	// The ground: what a machine looks like, and what a window promises.
	{path: "net/topology", pure: true},
	{path: "net/topology/host", pure: true, imports: "net/topology"},
	{path: "net/rma", pure: true, imports: "net/topology"},
	{path: "internal/rings", testsOf: anything},
	{path: "internal/mutants", testsOf: anything, imports: "internal/rings"},
	{path: "internal/crew"},
	{path: "internal/steady"},
	{path: "internal/freeport", testsOf: anything},
	{path: "internal/netns", testsOf: "net/rma"},
	{path: "net/rma/epoch", pure: true, imports: "net/rma"},
	{path: "net/rma/part", testsOf: "net/rma", pure: true, imports: "net/rma net/topology"},
	{path: "net/rma/model", pure: true, imports: "net/rma/epoch net/rma net/topology"},
	{path: "net/rmatest", testsOf: "net/rma", imports: "net/rma/epoch net/rma net/topology"},

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
	{path: "net/node", imports: "net/wire net/rma net/topology"},
	{path: "net/p2p/internal/loan", imports: "net/internal/extents net/wire net/rma"},
	{path: "net/p2p/internal/lease", pure: true, imports: "internal/leases net/p2p/internal/loan net/wire"},
	{path: "net/p2p/internal/transport"},
	{path: "net/p2p/internal/control", pure: true},
	{path: "net/p2p/internal/membership", pure: true},
	{path: "net/p2p/internal/gathering", pure: true, imports: "net/p2p/internal/membership"},
	{path: "net/p2p/internal/lane", imports: "net/node net/p2p/internal/loan net/p2p/internal/transport net/engine net/wire net/rma"},
	{path: "net/p2p/internal/window", imports: "net/p2p/internal/control net/p2p/internal/lane net/p2p/internal/loan net/p2p/internal/transport internal/park net/mem net/shm net/engine net/wire net/rma net/topology"},
	{path: "net/p2p/noise", testsOf: "net/rma", imports: "net/p2p/internal/transport"},
	{path: "net/p2p/p2ptest", testsOf: anything, imports: "net/p2p/internal/transport"},
	{path: "net/p2p/quic", testsOf: "net/rma", imports: "net/p2p/internal/transport"},
	{path: "net/p2p", testsOf: "net/rma", imports: "net/node net/p2p/internal/control net/p2p/internal/gathering net/p2p/internal/membership net/p2p/internal/lease net/p2p/internal/window net/p2p/internal/lane net/p2p/internal/loan net/p2p/internal/transport net/engine net/wire net/rma net/topology"},
	{path: "net/p2p/rendezvous", imports: "net/p2p/internal/transport"},

	// The library.
	{path: "internal/processor"},
	{path: "internal/faultpage", pure: true},
	{path: "internal/npy", pure: true},
	{path: "locks", pure: true, imports: "net/rma net/topology"},
	{path: "locks/lab", pure: true, imports: "locks net/rma/epoch net/rma net/topology"},
	{path: "locks/lab/arena", imports: "locks/lab locks net/p2p net/sim net/shm net/mem net/rma/model net/rma net/topology"},
	{path: "internal/native"},
	{path: "locks/lab/peers", imports: "internal/native locks/lab/arena locks/lab locks net/rma net/topology"},
	{path: "locks/lab/report", pure: true, imports: "locks/lab"},
	{path: "locks/lab/tune", imports: "locks/lab/arena locks/lab locks net/rma/model net/topology"},
	{path: "locks/lab/claims", imports: "locks/lab/arena locks/lab/report locks/lab locks net/sim net/topology"},
	{path: "locks/lockers", pure: true, imports: "internal/processor locks net/rma"},
	{path: "locks/lockstest", testsOf: "locks", imports: "locks net/rma net/rmatest net/topology"},
	{path: "internal/hugepage", pure: true},
	{path: "resource/internal/coherence", pure: true, imports: "internal/hugepage"},
	{path: "resource", pure: true, imports: "resource/internal/coherence internal/faultpage internal/npy internal/park locks/lockers locks net/rma"},
	{path: "orwl/liveness", testsOf: "resource", pure: true, imports: "resource"},
	{path: "handle", pure: true, imports: "resource"},
	{path: "orwl/placement", pure: true, imports: "net/topology"},
	{path: "orwl/launch"},
	{path: "orwl/session/internal/protocol", pure: true, imports: "internal/leases"},
	{path: "orwl/session", testsOf: "resource", imports: "orwl/session/internal/protocol resource net/node net/p2p/rendezvous net/p2p"},
	{path: "orwl/internal/workers", pure: true, imports: "net/rma"}, // its tests play in net/sim
	{path: "orwl/internal/linked", imports: "net/node"},
	{path: "orwl/internal/message", pure: true},
	{path: "orwl/internal/plan", pure: true, imports: "orwl/liveness resource"},
	{path: "orwl/speed", pure: true, imports: "orwl/internal/plan orwl/liveness"},
	{path: "orwl/internal/books", imports: "orwl/internal/plan"}, // its tests play in net/sim
	{path: "orwl/internal/spread", pure: true, imports: "orwl/placement net/topology"},
	{path: "orwl/inspect", pure: true, imports: "orwl/internal/spread orwl/placement"},
	{path: "orwl/internal/looks", pure: true, imports: "orwl/inspect orwl/internal/spread resource"},
	{path: "orwl/internal/guards", imports: "orwl/internal/spread resource locks net/node net/rma/part net/wire net/rma net/topology"},
	{path: "orwl/internal/fate", pure: true, imports: "resource"},
	{path: "orwl/nodes", testsOf: "net/node", imports: "orwl/internal/linked net/node net/p2p/rendezvous net/p2p net/rma"},
	{path: "orwl", imports: "orwl/inspect orwl/internal/fate orwl/internal/looks orwl/internal/guards orwl/internal/spread orwl/internal/message orwl/internal/linked orwl/internal/plan orwl/internal/books orwl/internal/workers orwl/launch orwl/placement orwl/liveness net/topology/host " + belowOrwl},
	{path: "orwl/trace", imports: "orwl " + belowOrwl},
	{path: "orwl/stencil", imports: "internal/hugepage orwl handle resource"},
	{path: "orwl/stencil/picture"},
	{path: "orwl/stencil/rows", imports: "orwl/stencil"},
	{path: "internal/terminal"},
	{path: "internal/outfile"},
	{path: "orwl/stencil/show", imports: "internal/outfile internal/terminal orwl/stencil/picture orwl/stencil orwl/launch orwl resource"},
	{path: "metrics", imports: "orwl " + belowOrwl},

	{path: "internal/promserver", testsOf: "metrics"},
	{path: "dashboards", imports: "metrics orwl " + belowOrwl},

	// The programs.
	{path: "internal/command", imports: "orwl/launch"},
	{path: "internal/command/commandtest", imports: "internal/command"},
	{path: "internal/exhibit", imports: "internal/command metrics orwl orwl/launch"},
	{path: "apps/llk23/experiments", imports: anything},
	{path: "examples", imports: anything},
	{path: "examples/internal/forms", imports: anything},
	{path: "examples/heat", imports: anything},
	{path: "examples/jacobi3d", imports: anything},
	{path: "examples/wave", imports: anything},
	{path: "examples/life", imports: anything},
	{path: "examples/gaussseidel", imports: anything},
	{path: "examples/filter", imports: anything},
	{path: "examples/redblack", imports: anything},
	{path: "examples/primes", imports: anything},
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
	{path: "apps/dht/table", imports: anything},
	{path: "apps/dht/resp", imports: anything},
	{path: "apps/dht", imports: anything},
	{path: "internal/taskbench", imports: "internal/native handle orwl resource"},
	{path: "cmd/orwl", imports: anything},
	{path: "deploy", imports: "orwl/launch"},

	// Beside the layers.
	{path: "internal/invariant", everybodys: true},
	{path: "internal/pack", pure: true, everybodys: true},
	{path: "internal/tally", pure: true, everybodys: true},
	{path: "internal/archtest"},
	{path: "internal/memory"},
	{path: "internal/prose"},
}

const (
	anything  = "anything"
	belowOrwl = "handle resource locks/lockers locks " +
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
	imports string // what it may import, folders separated by spaces, or anything

	// pure code is a state machine: the rules in pure.go hold for it.
	pure bool

	// testsOf names the package whose tests, and the tests of everything that
	// stands on it, may import this one. With anything, all tests may.
	testsOf string

	// everybodys may be imported by all.
	everybodys bool
}

// row is the row of the package in the folder path, or nil.
func row(path string) *layer {
	for i := range layers {
		if layers[i].path == path {
			return &layers[i]
		}
	}
	return nil
}

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
