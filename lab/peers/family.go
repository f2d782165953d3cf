package peers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
)

// Family is a family of locks that run in the same way.
type Family struct {
	Name  string
	About string
	locks []lock
	open  func(ctx context.Context, f Family) (Peer, error)
}

// lock is a lock of a family.
type lock struct {
	name string
	kind locks.Kind
}

// Peer is a family that is ready to play.
type Peer interface {
	// Play plays a case that Cases has made. It tells sampled of each sample as it comes,
	// unless that is nil.
	Play(ctx context.Context, c lab.Case, sampled func(lab.Sample)) ([]lab.Sample, error)
	// Close removes what Open has made.
	Close() error
}

// The locks of families that have the same ones.
var (
	posix = []lock{
		{"pthread_mutex", locks.Exclusive}, {"pthread_rwlock", locks.ReaderWriter}, {"pthread_spin", locks.Exclusive},
	}
	kit = []lock{
		{"ck_spinlock_fas", locks.Exclusive}, {"ck_spinlock_ticket", locks.Exclusive}, {"ck_spinlock_mcs", locks.Exclusive},
		{"ck_spinlock_clh", locks.Exclusive}, {"ck_cohort", locks.Exclusive}, {"ck_rwlock", locks.ReaderWriter},
		{"ck_pflock", locks.ReaderWriter}, {"ck_brlock", locks.ReaderWriter},
	}
	queues = []lock{
		{"MPI_Win_lock", locks.ReaderWriter}, {"D-MCS", locks.Exclusive}, {"RMA-MCS", locks.Exclusive}, {"C-MCS-MCS", locks.Exclusive},
	}
)

// processes says that the workers of a family in C are processes that share memory.
func (f Family) processes() bool { return strings.HasSuffix(f.Name, "-shm") }

// Families are all families.
func Families() []Family {
	return []Family{
		{Name: "go", About: "sync.Mutex, sync.RWMutex, xsync.RBMutex", open: openGo, locks: []lock{
			{"sync.Mutex", locks.Exclusive}, {"sync.RWMutex", locks.ReaderWriter}, {"xsync.RBMutex", locks.ReaderWriter},
		}},
		{Name: "pthread", About: "mutex, rwlock and spin lock of POSIX threads", open: openPthread, locks: posix},
		{Name: "pthread-shm", About: "the same in processes that share memory", open: openPthread, locks: posix},
		{Name: "ck", About: "Concurrency Kit", open: openCK, locks: kit},
		{Name: "ck-shm", About: "the same in processes that share memory", open: openCK, locks: kit},
		{Name: "openmpi", About: "MPI_Win_lock, D-MCS, RMA-MCS, C-MCS-MCS on Open MPI", open: openOpenMPI, locks: queues},
		{Name: "mpich", About: "the same on MPICH", open: openMPICH, locks: queues},
	}
}

// Match are the families that a list names: mpi is both MPIs, and all is all.
func Match(list string) (found []Family, err error) {
	for _, word := range strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return r == ',' || r == ' ' }) {
		n := len(found)
		for _, f := range Families() {
			if word == "all" || word == f.Name || word == "mpi" && strings.Contains(f.Name, "mpi") {
				found = append(found, f)
			}
		}
		if len(found) == n {
			var names []string
			for _, f := range Families() {
				names = append(names, f.Name)
			}
			return nil, fmt.Errorf("peers: no peer %q: want all, mpi, or some of %s", word, strings.Join(names, ", "))
		}
	}
	return found, nil
}

// Open compiles what there is to compile. It fails with native.ErrMissing if something is not
// installed.
func (f Family) Open(ctx context.Context) (Peer, error) { return f.open(ctx, f) }

// played are the benchmarks that peers play.
var played = []string{"LB", "ECSB", "SOB", "WCSB", "WARB"}

// Cases are the cases of the plan that the family can play, with all its locks. If the family
// has a lock of the same name as one of ours, it plays that lock if the plan has it. skipped
// says what was left out and why.
func (f Family) Cases(plan lab.Plan) (cases []lab.Case, skipped []string) {
	for _, b := range plan.Benchmarks {
		if !slices.Contains(played, b.Name) {
			skipped = append(skipped, fmt.Sprintf("%s: peers play %s, and not %s", f.Name, strings.Join(played, ", "), b.Name))
			continue
		}
		for _, tree := range plan.Machines {
			for _, l := range f.locks {
				if f.plays(l, plan) {
					cases = f.contend(cases, plan, b, tree, l)
				}
			}
		}
	}
	return cases, skipped
}

func (f Family) plays(l lock, plan lab.Plan) bool {
	if _, ours := locks.ByName(l.name); !ours {
		return true
	}
	return slices.ContainsFunc(plan.Locks, func(s lab.Lock) bool { return s.Name == l.name })
}

// contend adds the cases of one lock on one machine.
func (f Family) contend(cases []lab.Case, plan lab.Plan, b lab.Benchmark, tree *topology.Tree, l lock) []lab.Case {
	c := lab.Case{Benchmark: b.Name, Lock: l.name, Window: f.Name, Machine: tree.String(), Length: plan.Length}
	c.Options.TL = plan.Options.TL
	c.Uncounted = true
	return slices.AppendSeq(cases, plan.Vary(c, b, l.kind))
}
