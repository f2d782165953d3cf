package coherence

import "github.com/orwl/go-orwl/internal/invariant"

// register holds values by the ID of a request. Most nodes have a few requests of a
// resource, so a search looks through a slice. A register that once had many has an index.
// An idle register keeps room for a few.
type register[T any] struct {
	all   []entry[T]
	index map[ID]int // nil while there are few
}

type entry[T any] struct {
	id    ID
	value T
}

// few is how many entries need no index.
const few = 16

// find is where the value of an ID is, and the value, good until the next change; nil if
// there is none.
func (r *register[T]) find(id ID) (at int, value *T) {
	if r.index != nil {
		if at, found := r.index[id]; found {
			return at, &r.all[at].value
		}
		return -1, nil
	}
	for at := range r.all {
		if r.all[at].id == id {
			return at, &r.all[at].value
		}
	}
	return -1, nil
}

// add adds a value. The ID is new.
func (r *register[T]) add(id ID, value T) {
	r.all = append(r.all, entry[T]{id, value})
	switch {
	case r.index != nil:
		r.index[id] = len(r.all) - 1
	case len(r.all) > few:
		invariant.Sometimes(true, "a register gets an index")
		r.index = make(map[ID]int, 2*len(r.all))
		for at := range r.all {
			r.index[r.all[at].id] = at
		}
	}
}

// remove removes the value of an ID, if there is one. The last takes its place.
func (r *register[T]) remove(id ID) {
	at, value := r.find(id)
	if value == nil {
		return
	}
	last := len(r.all) - 1
	if r.index != nil {
		r.index[r.all[last].id] = at
		delete(r.index, id)
	}
	r.all[at] = r.all[last]
	r.all[last] = entry[T]{}
	if r.all = r.all[:last]; last == 0 && r.index != nil {
		r.all, r.index = nil, nil
	}
}

func (r *register[T]) clear() { r.all, r.index = nil, nil }
