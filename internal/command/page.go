package command

import (
	"fmt"
	"strings"
)

// Page is the page of all programs' help, with the part of this program as it is now. The parts
// stand between comments of HTML.
func (p Program) Page(page string) string {
	begin, end := marks(p.Name)
	var part strings.Builder
	part.WriteString("\n## " + p.Name + "\n")
	section := func(help string) { fmt.Fprintf(&part, "\n```\n%s```\n", help) }
	var b strings.Builder
	p.help(&b)
	section(b.String())
	for i := range p.Commands {
		c := &p.Commands[i]
		b.Reset()
		c.help(p.Name+" "+c.Name, c.About, c.set(p.Name), &b)
		fmt.Fprintf(&part, "\n### %s %s\n", p.Name, c.Name)
		section(b.String())
	}
	before, rest, ok := strings.Cut(page, begin+"\n")
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		before, after = page+"\n", "\n"
	}
	return before + begin + "\n" + part.String() + "\n" + end + after
}

func marks(program string) (begin, end string) {
	return "<!-- " + program + " begins -->", "<!-- " + program + " ends -->"
}

// strangers are the flags of other programs on the page, with the names of these programs.
func strangers(program, page string) map[string]string {
	seen := make(map[string]string)
	owner := ""
	for line := range strings.Lines(page) {
		if name, is := strings.CutSuffix(strings.TrimPrefix(strings.TrimSpace(line), "<!-- "), " begins -->"); is {
			owner = name
		}
		if text, is := strings.CutPrefix(line, "  -"); is && owner != program {
			seen[strings.Fields(text)[0]] = owner
		}
	}
	return seen
}
