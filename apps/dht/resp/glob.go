package resp

// glob is a pattern as Redis has it: ? is any byte, * any bytes, [a-c] one of a set,
// [^a-c] one that is not in it, and a backslash takes the next byte as it is.
type glob []byte

// matches reports whether the whole name is as the pattern says. It goes back to the
// last star only, so its time is at most the product of the lengths, whatever the
// pattern.
func (p glob) matches(name []byte) bool {
	star, from := glob(nil), []byte(nil)
	for {
		switch {
		case len(p) > 0 && p[0] == '*':
			p = p[1:]
			if len(p) == 0 {
				return true
			}
			star, from = p, name
			continue
		case len(p) == 0 && len(name) == 0:
			return true
		case len(p) > 0 && len(name) > 0:
			if ok, rest := p.one(name[0]); ok {
				p, name = rest, name[1:]
				continue
			}
		}
		if star == nil || len(from) == 0 {
			return false
		}
		from = from[1:]
		p, name = star, from
	}
}

// one matches a byte with the beginning of p, which is not a star, and returns what
// follows that.
func (p glob) one(c byte) (ok bool, rest glob) {
	switch {
	case p[0] == '?':
		return true, p[1:]
	case p[0] == '[':
		return p[1:].set(c)
	case p[0] == '\\' && len(p) > 1:
		return p[1] == c, p[2:]
	}
	return p[0] == c, p[1:]
}

// set matches a byte with the set that p is the inside of. A set without an end ends
// where the pattern does.
func (p glob) set(c byte) (ok bool, rest glob) {
	not := len(p) > 0 && p[0] == '^'
	if not {
		p = p[1:]
	}
	for ; len(p) > 0 && p[0] != ']'; p = p[1:] {
		switch {
		case p[0] == '\\' && len(p) > 1:
			p = p[1:]
			ok = ok || p[0] == c
		case len(p) > 2 && p[1] == '-':
			low, high := min(p[0], p[2]), max(p[0], p[2])
			ok = ok || low <= c && c <= high
			p = p[2:]
		default:
			ok = ok || p[0] == c
		}
	}
	if len(p) > 0 {
		p = p[1:]
	}
	return ok != not, p
}
