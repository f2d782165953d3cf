package placement

import "github.com/orwl/go-orwl/net/topology"

// descent takes tasks from the machine down to the ranks, a level at a time.
type descent struct {
	tree    *topology.Tree
	links   *links
	balance balance
}

// An element with the ranks in it; a rank is an element of level N+1.
type element struct {
	first topology.Rank
	ranks int
}

// elements lists level i from left to right, 1..N+1.
func (d *descent) elements(i int) []element {
	if i > d.tree.Levels() {
		all := make([]element, d.tree.Ranks())
		for r := range all {
			all[r] = element{topology.Rank(r), 1}
		}
		return all
	}
	all := make([]element, d.tree.Elements(i))
	for j := range all {
		first, n := d.tree.Members(i, j)
		all[j] = element{first, n}
	}
	return all
}

// divided divides the tasks of each element among its parts, level by level,
// and lets the elements of a level trade before it goes on. Where an element's
// tasks go inside it is the same to everybody outside.
func (d *descent) divided() []topology.Rank {
	part := make([]int32, d.links.tasks()) // the element of each task
	above := []element{{0, d.tree.Ranks()}}
	var b bisector
	in := newInducer(d.links)
	for i := 2; i <= d.tree.Levels()+1; i++ {
		here := d.elements(i)
		if len(here) == len(above) {
			continue
		}
		from := 0
		for j, tasks := range membersOf(part, len(above)) {
			to, end := from, above[j].first+topology.Rank(above[j].ranks)
			for to < len(here) && here[to].first < end {
				to++
			}
			d.divide(&b, in, part, tasks, here[:to], from)
			from = to
		}
		d.trade(part, here)
		above = here
	}
	return placedBy(part)
}

// divide spreads tasks over the elements of all from the given one on. They are
// equally far from each other, so it does not matter which are halved off first.
func (d *descent) divide(b *bisector, in *inducer, part []int32, tasks []int32, all []element, from int) {
	if from == len(all)-1 {
		for _, v := range tasks {
			part[v] = int32(from)
		}
		return
	}
	ranks := 0
	for _, e := range all[from:] {
		ranks += e.ranks
	}
	middle, left := from+1, all[from].ranks
	for middle < len(all)-1 && 2*(left+all[middle].ranks) <= ranks {
		left += all[middle].ranks
		middle++
	}
	var load int64
	for _, v := range tasks {
		load += d.links.load[v]
	}
	low, high := d.balance.bounds(load, left, ranks-left)
	side := b.bisect(in.induce(d.links, tasks), low, high)
	var sides [2][]int32
	for k, v := range tasks {
		sides[side[k]] = append(sides[side[k]], v)
	}
	d.divide(b, in, part, sides[0], all[:middle], from)
	d.divide(b, in, part, sides[1], all, middle)
}

// polished is a placement after trades between its ranks.
func (d *descent) polished(placed []topology.Rank) []topology.Rank {
	part := make([]int32, len(placed))
	for t, r := range placed {
		part[t] = int32(r)
	}
	d.trade(part, d.elements(d.tree.Levels()+1))
	return placedBy(part)
}

func placedBy(part []int32) []topology.Rank {
	placed := make([]topology.Rank, len(part))
	for t, r := range part {
		placed[t] = topology.Rank(r)
	}
	return placed
}

// membersOf lists the tasks of each part, in ascending order.
func membersOf(part []int32, parts int) [][]int32 {
	count := make([]int, parts)
	for _, p := range part {
		count[p]++
	}
	all := make([]int32, len(part))
	members := make([][]int32, parts)
	for p, n := range count {
		members[p], all = all[:0:n], all[n:]
	}
	for t, p := range part {
		members[p] = append(members[p], int32(t))
	}
	return members
}

// How many tasks are few enough to try all placements, and after how many steps
// the trying ends without a proof. Eight tasks on four ranks never need so many.
const (
	fewTasks = 12
	maxSteps = 1 << 17
)

// search tries placements in depth and leaves a branch once it costs as much as
// the best that is known.
type search struct {
	*descent
	order []int           // the tasks as they are placed
	seat  []topology.Rank // of the tasks placed so far, by task; unseated for the others
	loads []int64         // of each rank
	lack  int64           // the load that ranks below the floor still need
	rest  int64           // load of the tasks not yet placed
	steps int
	best  []topology.Rank
	cost  int64 // of best
}

// unseated is the seat of a task that is not placed.
const unseated = topology.Rank(-1)

// improved returns a placement within the limits that costs less than the given
// one, the cheapest of all if steps suffice, or the given one.
func (d *descent) improved(placed []topology.Rank, cost int64) []topology.Rank {
	s := &search{descent: d, best: placed, cost: cost,
		seat: make([]topology.Rank, len(placed)), loads: make([]int64, d.tree.Ranks())}
	for v := range s.seat {
		s.seat[v] = unseated
		s.rest += d.links.load[v]
	}
	s.lack = d.balance.floor * int64(d.tree.Ranks())
	// Those with the most weight to others already in the order come first, so
	// that what is wrong gets dear early.
	gain := make([]int64, len(placed))
	chosen := make([]bool, len(placed))
	for range placed {
		next := -1
		for v := range placed {
			if !chosen[v] && (next < 0 || gain[v] > gain[next]) {
				next = v
			}
		}
		chosen[next] = true
		s.order = append(s.order, next)
		for k := d.links.start[next]; k < d.links.start[next+1]; k++ {
			gain[d.links.to[k]] += d.links.weight[k]
		}
	}
	s.try(0, 0)
	return s.best
}

// try places the tasks from the given place in the order on.
func (s *search) try(at int, cost int64) {
	s.steps++
	if cost >= s.cost || s.lack > s.rest || s.steps > maxSteps {
		return
	}
	if at == len(s.order) {
		s.best, s.cost = append([]topology.Rank(nil), s.seat...), cost
		return
	}
	v := s.order[at]
	w, finest := s.links.load[v], s.tree.Levels()
	emptyIn := -1 // finest element in which an empty rank was tried
	for r := range topology.Rank(s.tree.Ranks()) {
		if s.loads[r] == 0 { // one empty rank of an element is like the other
			if j := s.tree.Element(r, finest); j == emptyIn {
				continue
			} else {
				emptyIn = j
			}
		}
		if s.loads[r]+w > s.balance.limit {
			continue
		}
		more := int64(0)
		for k := s.links.start[v]; k < s.links.start[v+1]; k++ {
			if u := s.seat[s.links.to[k]]; u != unseated {
				more += s.links.weight[k] * int64(distance(s.tree, r, u))
			}
		}
		fills := max(min(w, s.balance.floor-s.loads[r]), 0)
		s.seat[v] = r
		s.loads[r], s.lack, s.rest = s.loads[r]+w, s.lack-fills, s.rest-w
		s.try(at+1, cost+more)
		s.loads[r], s.lack, s.rest = s.loads[r]-w, s.lack+fills, s.rest+w
		s.seat[v] = unseated
	}
}
