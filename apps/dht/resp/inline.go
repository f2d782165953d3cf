package resp

// words appends the words of a line, which may be quoted: "as \"in\" C\x21\n", or
// 'with \' alone'. It reports false if quotes do not balance. Words that have no
// quotes are parts of the line.
func words(dst [][]byte, line []byte) ([][]byte, bool) {
	for {
		for len(line) > 0 && isSpace(line[0]) {
			line = line[1:]
		}
		if len(line) == 0 {
			return dst, true
		}
		word, rest, ok := word(line)
		if !ok {
			return nil, false
		}
		dst, line = append(dst, word), rest
	}
}

// word is the first word of a line that begins with it.
func word(line []byte) (word, rest []byte, ok bool) {
	i := 0
	for i < len(line) && !isSpace(line[i]) && line[i] != '"' && line[i] != '\'' {
		i++
	}
	if i == len(line) || isSpace(line[i]) {
		return line[:i:i], line[i:], true
	}
	word = append(word, line[:i]...)
	quote := line[i]
	for i++; i < len(line); i++ {
		c := line[i]
		switch {
		case c == quote:
			rest = line[i+1:]
			return word, rest, len(rest) == 0 || isSpace(rest[0])
		case c == '\\' && quote == '"':
			c, n, ok := escaped(line[i+1:])
			if !ok {
				return nil, nil, false
			}
			word, i = append(word, c), i+n
		case c == '\\' && i+1 < len(line) && line[i+1] == '\'':
			word, i = append(word, '\''), i+1
		default:
			word = append(word, c)
		}
	}
	return nil, nil, false
}

// escaped is the byte that what follows a backslash stands for, and its length.
func escaped(rest []byte) (c byte, n int, ok bool) {
	if len(rest) == 0 {
		return 0, 0, false
	}
	if rest[0] == 'x' && len(rest) > 2 {
		high, ok1 := hexadecimal(rest[1])
		low, ok2 := hexadecimal(rest[2])
		if ok1 && ok2 {
			return high<<4 | low, 3, true
		}
	}
	switch c := rest[0]; c {
	case 'n':
		return '\n', 1, true
	case 'r':
		return '\r', 1, true
	case 't':
		return '\t', 1, true
	case 'b':
		return '\b', 1, true
	case 'a':
		return '\a', 1, true
	default:
		return c, 1, true
	}
}

func hexadecimal(c byte) (byte, bool) {
	switch {
	case c-'0' < 10:
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}

func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }
