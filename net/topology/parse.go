package topology

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Parse returns the tree of a description such as
//
//	rack:2 node:4 socket:2 core:8
//
// The machine has two racks, every rack four nodes, every node two sockets, and
// every socket eight cores with one rank each. This tree has four levels
// (machine, rack, node, socket) and 128 ranks. The last word only names the
// leaves: core:8 is Flat(8) with leaves called core.
//
// Spaces and commas separate words. The names are machine, group, rack, node,
// socket, numa, cache, core, thread and rank. They go from coarse to fine, and
// each may occur once. Level 1 needs no word, but machine:1 may come first.
//
// If the elements of a level differ, the word after it has one count for each of
// them, joined by +. 8*3 is short for 8+8+8: "node:4 core:8*3+6" has three nodes
// with eight cores and one with six.
//
// Any error is a [*ParseError].
func Parse(text string) (*Tree, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	return d.tree(), nil
}

// description is a parsed text. It has at least one word; machine:1 is not kept.
type description struct {
	text  string
	words []word
}

// word says how many parts each element of the level above has, and their name.
type word struct {
	name  string
	at    int   // offset of the name in the text
	runs  []run // the counts of all elements of the level above
	total int   // sum of the counts
}

func parse(text string) (*description, error) {
	d := &description{text: text}
	coarser, elements := -1, 1 // -1 is coarser than every name
	for at, field := range fields(text) {
		name, counts, counted := strings.Cut(field, ":")
		g, err := d.name(at, name, coarser)
		if err != nil {
			return nil, err
		}
		if !counted || counts == "" {
			return nil, d.fail(at+len(field), "", fmt.Sprintf("%q has no count", name), name+":COUNT, as in "+name+":4")
		}
		coarser = g
		if g == 0 {
			if counts != "1" {
				return nil, d.fail(at+len(name)+1, counts, "there is only one machine", "machine:1, or no word for it")
			}
			continue
		}
		w := word{name: name, at: at}
		if w.runs, w.total, err = d.counts(at+len(name)+1, counts, elements); err != nil {
			return nil, err
		}
		d.words = append(d.words, w)
		elements = w.total
	}
	if len(d.words) == 0 {
		return nil, d.fail(len(text), "", "the description has no level below the machine",
			"words such as node:4 core:8 (names: "+finerThan(0)+")")
	}
	return d, nil
}

// fields yields the words of a text with their offsets.
func fields(text string) func(yield func(at int, field string) bool) {
	separates := func(r rune) bool { return r == ',' || unicode.IsSpace(r) }
	return func(yield func(int, string) bool) {
		for at := 0; at < len(text); {
			rest := text[at:]
			trimmed := strings.TrimLeftFunc(rest, separates)
			if trimmed == "" {
				return
			}
			at += len(rest) - len(trimmed)
			field := trimmed
			if end := strings.IndexFunc(trimmed, separates); end >= 0 {
				field = trimmed[:end]
			}
			if !yield(at, field) {
				return
			}
			at += len(field)
		}
	}
}

// name returns the grain of a level's name. The name has to be finer than the one
// before it, whose grain is coarser.
func (d *description) name(at int, name string, coarser int) (int, error) {
	g := grain(name)
	switch {
	case g < 0:
		reason := fmt.Sprintf("unknown level %q", clip(name))
		if nearest := nearestName(name); nearest != "" {
			reason += fmt.Sprintf(", did you mean %q?", nearest)
		}
		return 0, d.fail(at, name, reason, strings.Join(levelNames[:], ", "))
	case g > coarser:
		return g, nil
	case g == coarser:
		return 0, d.fail(at, name, name+" occurs twice", finerThan(coarser))
	}
	reason := fmt.Sprintf("%s comes after %s, but levels go from coarse to fine", name, levelNames[coarser])
	return 0, d.fail(at, name, reason, finerThan(coarser))
}

// counts reads one count for all elements of the level above, or a list with one
// count for each of them.
func (d *description) counts(at int, text string, parents int) (runs []run, total int, err error) {
	if !strings.ContainsAny(text, "+*") {
		n, err := d.number(at, text)
		if err != nil {
			return nil, 0, err
		}
		if n > MaxRanks/parents {
			return nil, 0, d.tooMany(at, text)
		}
		return []run{{n, parents}}, n * parents, nil
	}
	counted, begin := 0, at
	for part := range strings.SplitSeq(text, "+") {
		count, repeat, repeated := strings.Cut(part, "*")
		n, err := d.number(begin, count)
		if err != nil {
			return nil, 0, err
		}
		times := 1
		if repeated {
			if times, err = d.number(begin+len(count)+1, repeat); err != nil {
				return nil, 0, err
			}
		}
		if times > parents-counted {
			return nil, 0, d.fail(begin, part, fmt.Sprintf("more counts than the %d elements of the level above", parents),
				fmt.Sprintf("%d counts, or one for all", parents))
		}
		if n > (MaxRanks-total)/times {
			return nil, 0, d.tooMany(begin, part)
		}
		runs = appendRun(runs, n, times)
		counted, total, begin = counted+times, total+n*times, begin+len(part)+1
	}
	if counted < parents {
		return nil, 0, d.fail(at, text, fmt.Sprintf("%d counts for the %d elements of the level above", counted, parents),
			fmt.Sprintf("%d counts, or one for all", parents))
	}
	return runs, total, nil
}

func (d *description) number(at int, text string) (int, error) {
	// ParseUint refuses signs and, in base 10, underscores.
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < 1 || n > MaxRanks {
		return 0, d.fail(at, text, fmt.Sprintf("%q is not a count", clip(text)),
			fmt.Sprintf("whole numbers from 1 to %d", MaxRanks))
	}
	return int(n), nil
}

func (d *description) tooMany(at int, bad string) error {
	return d.fail(at, bad, "this count makes the machine too large", fmt.Sprintf("up to %d ranks in all", MaxRanks))
}

func (d *description) fail(at int, bad, reason, allowed string) error {
	return &ParseError{Text: d.text, Offset: at, Word: bad, Reason: reason, Allowed: allowed}
}

// clip shortens a word so that a message stays readable.
func clip(text string) string {
	const longest = 40 // bytes
	if len(text) > longest {
		return text[:longest] + "…"
	}
	return text
}

// String returns a description of t in the language of Parse, without CPU numbers.
// Parse makes an equal tree from it.
func (t *Tree) String() string {
	var b strings.Builder
	for i := 1; i <= len(t.levels); i++ {
		if i > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(t.LevelName(i + 1))
		b.WriteByte(':')
		writeRuns(&b, t.parts(i))
	}
	return b.String()
}

// parts counts the parts of each element of level i.
func (t *Tree) parts(i int) (runs []run) {
	for j := range t.levels[i-1].elements() {
		from, to := t.children(i, j)
		runs = appendRun(runs, to-from, 1)
	}
	return runs
}

func writeRuns(b *strings.Builder, runs []run) {
	for k, r := range runs {
		if k > 0 {
			b.WriteByte('+')
		}
		b.WriteString(strconv.Itoa(r.value))
		if len(runs) > 1 && r.times > 1 {
			b.WriteByte('*')
			b.WriteString(strconv.Itoa(r.times))
		}
	}
}

// run is a value that occurs several times in a row. Machines are repetitive, so
// descriptions and pictures consist of runs.
type run struct {
	value, times int
}

// appendRun appends a run. It extends the last one if that has the same value.
func appendRun(runs []run, value, times int) []run {
	if n := len(runs); n > 0 && runs[n-1].value == value {
		runs[n-1].times += times
		return runs
	}
	return append(runs, run{value, times})
}
