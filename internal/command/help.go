package command

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// widest is the longest line of help, and column is where texts begin.
const (
	widest = 96
	column = 24
)

// builtinsAre is what the builtins do.
func (p Program) builtinsAre() [][2]string {
	help := "show what a command does and its flags: " + p.Name + " help COMMAND"
	if len(p.Commands) == 0 {
		help = "show this"
	}
	return [][2]string{
		{"help", help},
		{"version", "show the version of this program"},
		{"completion", "print what completes command lines in bash, zsh or fish"},
		{"man", "print the manual page, as in: " + p.Name + " man | man -l -"},
	}
}

// overview says which commands there are.
func (p Program) overview(w io.Writer) {
	fmt.Fprintf(w, "usage: %s COMMAND [FLAGS]\n\n", p.Name)
	p.commandsAre(w)
	fmt.Fprintf(w, "\nexit codes: %s\n", Codes)
}

func (p Program) commandsAre(w io.Writer) {
	longest := len("completion")
	for _, c := range p.Commands {
		longest = max(longest, len(c.Name))
	}
	for _, c := range p.Commands {
		fmt.Fprintf(w, "  %-*s %s\n", longest, c.Name, c.About)
	}
	fmt.Fprintln(w)
	for _, c := range p.builtinsAre() {
		fmt.Fprintf(w, "  %-*s %s\n", longest, c[0], c[1])
	}
}

// help is what the program says about itself: its commands, or what it does without one.
func (p Program) help(out io.Writer) {
	if p.Flags == nil {
		p.overview(out)
		return
	}
	p.Alone.help(p.Name, p.About, p.Flags(), out)
	fmt.Fprint(out, "\ncommands:\n")
	p.commandsAre(out)
	fmt.Fprintf(out, "\nexit codes: %s\n", Codes)
}

// help prints what a command does, how it is called, and its flags in groups.
func (c *Command) help(name, about string, f *flag.FlagSet, out io.Writer) {
	fmt.Fprintf(out, "%s: %s\n\n", name, about)
	usage := c.Usage
	if usage == "" {
		usage = name + " [FLAGS]"
	}
	fmt.Fprintf(out, "usage: %s\n", strings.ReplaceAll(usage, "\n", "\n       "))
	if c.Text != "" {
		fmt.Fprintf(out, "\n%s\n", strings.Trim(c.Text, "\n"))
	}
	if c.Example != "" {
		fmt.Fprintf(out, "\nexample:\n  %s\n", strings.ReplaceAll(c.Example, "\n", "\n  "))
	}
	for _, g := range grouped(f, c.Groups) {
		fmt.Fprintf(out, "\n%s:\n", g.title)
		for _, one := range g.flags {
			fmt.Fprint(out, one.help())
		}
	}
}

// help is the flag in lines that fit a terminal.
func (l listed) help() string {
	head := strings.TrimRight("  -"+l.name+" "+l.value, " ")
	var b strings.Builder
	lines := wrap(l.text, widest-column)
	if len(head) >= column {
		fmt.Fprintln(&b, head)
		head = ""
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "%-*s%s\n", column, head, line)
		head = ""
	}
	return b.String()
}

// about is the name of a flag's value and what the flag is for, its range and its default included.
func about(f *flag.Flag) (value, text string) {
	value, text = flag.UnquoteUsage(f)
	if r, is := f.Value.(interface{ Range() string }); is {
		text += ", " + r.Range()
	}
	switch f.DefValue {
	case "", "0", "false", "0s":
		return value, text
	}
	if g, is := f.Value.(flag.Getter); is {
		if byDefault, is := g.Get().(string); is {
			return value, fmt.Sprintf("%s (default %q)", text, byDefault)
		}
	}
	return value, fmt.Sprintf("%s (default %s)", text, f.DefValue)
}

// wrap cuts a text into lines of at most so many bytes, where words allow that.
func wrap(text string, width int) (lines []string) {
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines, line = append(lines, line), ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}
