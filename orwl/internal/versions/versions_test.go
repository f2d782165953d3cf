package versions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	modes "github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

var seeds = rings.Seeds("versions.seeds", 150, 40_000, "TestRandom: seeds")

// How far a program is explored, and how many schedules are played of a larger one.
const (
	mostStates = 300
	schedules  = 5
)

// TestRandom plays random programs on two and three nodes: each access sees what it sees without nodes, each node
// allows nothing that the queues do not, and when all messages have arrived it allows all that they do.
func TestRandom(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	n, whole, states := 0, 0, 0
	var waits, turning, dead, joins, early, held int
	for seed := range seeds.Part(1, rings.Of(1, 2, 1)) {
		c := randomCluster(seed)
		v, all := c.play(seed, mostStates, schedules)
		if v.wrong != nil {
			t.Fatalf("seed %d: %v\n%v\ngo test ./orwl/internal/versions -run 'TestRandom$' -versions.seeds %d+1", seed, v.wrong, c, seed)
		}
		n++
		states += v.states
		for count, is := range map[*int]bool{&whole: all, &waits: v.waits, &turning: c.turning, &dead: v.deadlocks, &joins: v.joins, &early: v.early, &held: v.held} {
			if is {
				*count++
			}
		}
	}
	t.Logf("%d programs, %d of them explored whole, %d states; %d wait for a message, %d take empty turns, %d stop, %d join versions, in %d one overtakes its base, in %d too many are on their way",
		n, whole, states, waits, turning, dead, joins, early, held)
	if n > 1 && min(waits, turning, dead, joins, early) == 0 {
		t.Error("a kind of program was not played")
	}
}

// small is a program of one resource: its accesses in their start order, each with its mode and its task, such as
// "W0 R1 W2".
type small struct {
	queue  string
	last   []int
	quiet  []bool
	node   []int
	home   int
	writes []write // of the writes, in their order
	network
	specimen
}

func (s small) cluster() *cluster {
	p := program{
		last: s.last, quiet: s.quiet, nodes: 3, homes: map[string]int{"r": s.home}, zero: []bool{s.home == 0}, writes: make(map[[2]int]write),
		order: func(int, int) []liveness.Step { return nil }, network: s.network, specimen: s.specimen,
	}
	for t, k := range s.last {
		p.system.Tasks = append(p.system.Tasks, liveness.Task{Name: fmt.Sprint("t", t)})
		p.tasks = append(p.tasks, plan.Task{Rounds: k, Node: s.node[t]})
	}
	writes := 0
	for at := 0; at < len(s.queue); at += 3 {
		t := &p.system.Tasks[s.queue[at+1]-'0']
		mode := modes.Read
		if s.queue[at] == 'W' {
			mode = modes.Write
			p.writes[[2]int{int(s.queue[at+1] - '0'), len(t.Accesses)}] = s.writes[writes%len(s.writes)]
			writes++
		}
		t.Accesses = append(t.Accesses, liveness.Access{Resource: "r", Mode: mode, Priority: at})
	}
	return newCluster(p)
}

// queues are all queues of one resource that three tasks use once at most.
func queues() (all []string) {
	var grow func(text string, used int)
	grow = func(text string, used int) {
		if text != "" {
			all = append(all, text[1:])
		}
		for t := range 3 {
			if used>>t&1 == 0 {
				grow(fmt.Sprint(text, " R", t), used|1<<t)
				grow(fmt.Sprint(text, " W", t), used|1<<t)
			}
		}
	}
	grow("", 0)
	return all
}

var share = rings.Size("versions.share", 200, 60, 1, "TestEverySmallProgram: one of so many programs")

// TestEverySmallProgram plays all programs of three tasks and one resource, on all nodes and with all homes, with two
// rounds of each task, or with some that end before: all schedules, and all ways in which messages overtake and join
// others. A few programs have more states: some of their schedules are played.
func TestEverySmallProgram(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	n, played, whole, states := 0, 0, 0, 0
	for i, queue := range queues() {
		for nodes := range 81 {
			if n++; n%share.N() != 0 {
				continue
			}
			s := small{
				queue: queue, last: []int{2, 2, 2}, node: []int{nodes % 3, nodes / 3 % 3, nodes / 9 % 3}, home: nodes / 27,
				writes: []write{{words: 1}, {words: 3, grows: nodes%2 == 0}, {}}, network: network{loose: true, late: true},
			}
			if (i+nodes)%3 == 0 {
				s.last, s.quiet = []int{2, (i + nodes) % 2, nodes % 3}, []bool{i%3 == 0, i%3 == 1, i%3 == 2}
			}
			c := s.cluster()
			v, all := c.play(uint64(n), 5_000, 5)
			if v.wrong != nil {
				t.Fatalf("%d: %v\n%v", n, v.wrong, c)
			}
			if all {
				whole++
			}
			played++
			states += v.states
		}
	}
	if whole*10 < played*9 {
		t.Errorf("only %d of %d programs are explored whole", whole, played)
	}
	t.Logf("%d of %d programs, %d of them explored whole, %d states", played, n, whole, states)
}

// TestAhead plays writers that nothing holds back: the home has no access of its own, or it has ended. All schedules
// are right. In some of them a version waits since four are on their way, and no receiver keeps more than three.
func TestAhead(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, s := range []small{
		{queue: "W0", last: []int{7}, node: []int{1}},
		{queue: "W0 W1", last: []int{3, 3}, node: []int{1, 1}},
		{queue: "W0 R1", last: []int{7, 1}, node: []int{1, 0}},
		{queue: "W0 R1", last: []int{6, 1}, node: []int{0, 1}},
	} {
		s.writes, s.network = []write{{words: 1}, {words: 2, grows: true}}, network{loose: true, late: true}
		v, all := s.cluster().explore(200_000)
		if v.wrong != nil || !all || !v.held || !v.early || !v.joins && s.queue == "W0 W1" {
			t.Errorf("%+v: %v, all states: %t, %+v", s, v.wrong, all, v)
		}
		t.Logf("%s, rounds %v, nodes %v: %d states", s.queue, s.last, s.node, v.states)
	}
}

// TestHub plays a resource with more accesses than a plan keeps all conditions for, on three nodes. Tasks that end take
// empty turns for ever.
func TestHub(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	p := program{
		nodes: 3, homes: map[string]int{"r": 1}, zero: []bool{false}, writes: make(map[[2]int]write),
		order: func(int, int) []liveness.Step { return nil }, network: network{loose: true, late: true},
	}
	for i := range 18 {
		p.system.Tasks = append(p.system.Tasks, liveness.Task{Accesses: []liveness.Access{{Resource: "r", Mode: modes.Mode(min(i%3, 1))}}})
		p.tasks = append(p.tasks, plan.Task{Rounds: 1 + i%4/3, Node: i % 7 % 3})
		p.last = append(p.last, 1+i%4/3)
		p.writes[[2]int{i, 0}] = write{words: uint8(1 + i%3), grows: i%5 == 0}
	}
	c := newCluster(p)
	if c.plan.Turns(0) < 1<<30 {
		t.Fatalf("%d turns", c.plan.Turns(0))
	}
	var v verdict
	for seed := range uint64(3) {
		if c.walk(rand.New(rand.NewPCG(seed, 6)), &v); v.wrong != nil {
			t.Fatalf("seed %d: %v", seed, v.wrong)
		}
	}
	t.Logf("%d states", v.states)
}

// TestMistakes plays a mistake of a caller: the play notices it.
func TestMistakes(t *testing.T) {
	rings.Computes(t)
	for mistake, s := range map[specimen]small{
		early:      {queue: "W0 R1", node: []int{0, 1}, last: []int{2, 2}, writes: []write{{words: 3}}},
		unfinished: {queue: "W0 R1", node: []int{0, 1}, last: []int{2, 2}, writes: []write{{words: 3}}},
		noBegin:    {queue: "R0 W1", node: []int{1, 2}, home: 2, last: []int{2, 2}, writes: []write{{words: 3}}},
		silent:     {queue: "W0 R1", node: []int{0, 1}, last: []int{2, 2}, writes: []write{{}}},
		endless:    {queue: "R0 W1", node: []int{1, 0}, last: []int{1, 2}, writes: []write{{words: 3}}},
	} {
		s.network = network{loose: true, late: true}
		for _, s.specimen = range []specimen{right, mistake} {
			v, all := s.cluster().explore(100_000)
			if wrong := v.wrong != nil; wrong != (s.specimen != right) || !all {
				t.Errorf("mistake %d of %d: wrong: %v, all states: %t", s.specimen, mistake, v.wrong, all)
			}
		}
	}
}
