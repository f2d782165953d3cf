package placement

import "github.com/orwl/go-orwl/net/topology"

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
