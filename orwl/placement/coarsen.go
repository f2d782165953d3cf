package placement

// coarser is a graph of lumps of one or two tasks of l, and which lump each task
// is in. A task is joined with the one to which it has the heaviest link
// (heavy-edge matching), so that heavy links vanish into lumps before any is cut.
// Among equals it takes the lighter partner, then the one with the lower number: a
// grid numbered by rows becomes a grid of dominoes and then of squares.
//
// The leaves of a star all want its centre, which takes one: the others are
// joined in twos, and so are tasks without links. No lump is heavier than heavy.
func (l *links) coarser(heavy int64) (*links, []int32) {
	const free = -1
	lump := make([]int32, l.tasks())
	for v := range lump {
		lump[v] = free
	}
	waiting := make([]int32, l.tasks()+1) // by wanted task, and for those without: 1 + who waited last
	var first []int32                     // of each lump
	join := func(v, u int32) {
		lump[v], lump[u] = int32(len(first)), int32(len(first))
		first = append(first, v)
	}
	for v := range int32(l.tasks()) {
		if lump[v] != free {
			continue
		}
		wanted, mate := int32(l.tasks()), int32(free)
		var most, weight int64
		for k := l.start[v]; k < l.start[v+1]; k++ {
			u, w := l.to[k], l.weight[k]
			if w > most {
				wanted, most = u, w
			}
			if lump[u] != free || l.load[v]+l.load[u] > heavy {
				continue
			}
			if mate == free || w > weight || w == weight && l.load[u] < l.load[mate] {
				mate, weight = u, w
			}
		}
		switch other := waiting[wanted] - 1; {
		case mate != free:
			join(v, mate)
		case other >= 0 && lump[other] == free && l.load[v]+l.load[other] <= heavy:
			join(other, v)
		default:
			waiting[wanted] = v + 1
		}
	}
	for v := range int32(l.tasks()) {
		if lump[v] == free {
			join(v, v)
		}
	}
	return l.lumped(lump, len(first)), lump
}

// lumped is the graph of n lumps. Links inside a lump vanish, parallel ones add
// up.
func (l *links) lumped(lump []int32, n int) *links {
	c := &links{start: make([]int, 1, n+1), load: make([]int64, n)}
	members := make([][2]int32, n) // 1 + each of the tasks, 0 for none
	for v, m := range lump {
		c.load[m] += l.load[v]
		if members[m][0] == 0 {
			members[m][0] = int32(v) + 1
		} else {
			members[m][1] = int32(v) + 1
		}
	}
	at := make([]int, n) // by lump: 1 + where its link stands in the row that is made
	for m, both := range members {
		begin := c.start[m]
		for _, v := range both {
			if v == 0 {
				continue
			}
			for k := l.start[v-1]; k < l.start[v]; k++ {
				u := lump[l.to[k]]
				switch {
				case int(u) == m:
				case at[u] > begin:
					c.weight[at[u]-1] += l.weight[k]
				default:
					c.to, c.weight = append(c.to, u), append(c.weight, l.weight[k])
					at[u] = len(c.to)
				}
			}
		}
		c.start = append(c.start, len(c.to))
	}
	return c
}
