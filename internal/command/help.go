package command

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// widest is the longest line of help.
const widest = 96

// overview says which commands there are.
func (p Program) overview(w io.Writer) {
	fmt.Fprintf(w, "usage: %s COMMAND [FLAGS]\n\n", p.Name)
	longest := len("completion")
	for _, c := range p.Commands {
		longest = max(longest, len(c.Name))
	}
	for _, c := range p.Commands {
		fmt.Fprintf(w, "  %-*s %s\n", longest, c.Name, c.About)
	}
	fmt.Fprintln(w)
	for _, c := range [][2]string{
		{"help", "show what a command does and its flags: " + p.Name + " help COMMAND"},
		{"version", "show the version of this program"},
		{"completion", "print what completes command lines in bash, zsh or fish"},
		{"man", "print the manual page, as in: " + p.Name + " man | man -l -"},
	} {
		fmt.Fprintf(w, "  %-*s %s\n", longest, c[0], c[1])
	}
	fmt.Fprintf(w, "\nexit codes: %d done, %d failed, %d not asked properly, %d interrupted\n", Done, Failed, Misused, Interrupted)
}

// Help prints the usage of a command that has a text of its own, and its flags below that.
func Help(f *flag.FlagSet, usage string, out io.Writer) {
	fmt.Fprint(out, usage)
	PrintFlags(f, out)
}

// PrintFlags prints the flags of a command, in lines that fit a terminal.
func PrintFlags(f *flag.FlagSet, out io.Writer) {
	f.VisitAll(func(one *flag.Flag) {
		value, text := about(one)
		fmt.Fprintln(out, strings.TrimRight("  -"+one.Name+" "+value, " "))
		for _, line := range wrap(text, widest-8) {
			fmt.Fprintln(out, "        "+line)
		}
	})
}

// about is the name of a flag's value and what the flag is for, its default included.
func about(f *flag.Flag) (value, text string) {
	value, usage := flag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "0", "false", "0s":
		return value, usage
	}
	if g, is := f.Value.(flag.Getter); is {
		if byDefault, is := g.Get().(string); is {
			return value, fmt.Sprintf("%s (default %q)", usage, byDefault)
		}
	}
	return value, fmt.Sprintf("%s (default %s)", usage, f.DefValue)
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
