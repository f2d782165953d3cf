package command

import (
	"fmt"
	"io"
	"strings"
)

// Manual prints the manual page of the program, in man's own macros.
func (p Program) Manual(out io.Writer) {
	about := p.About
	if about == "" {
		about = "commands " + strings.Join(p.list(), ", ")
	}
	fmt.Fprintf(out, ".TH %s 1 \"\" \"go-orwl\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(p.Name), p.Name, roff(about))
	fmt.Fprint(out, ".SH SYNOPSIS\n")
	if p.Flags == nil {
		fmt.Fprintf(out, ".B %s\n.I COMMAND\n[FLAGS]\n", p.Name)
	} else {
		roffLines(out, "", p.Alone.Usage)
		roffLines(out, ".SH DESCRIPTION\n", p.Alone.Text)
		roffLines(out, ".SH EXAMPLE\n", p.Alone.Example)
		fmt.Fprint(out, ".SH FLAGS\n")
		roffFlags(out, grouped(p.Flags(), p.Alone.Groups))
	}
	if len(p.Commands) > 0 {
		fmt.Fprint(out, ".SH COMMANDS\n")
	}
	for i := range p.Commands {
		c := &p.Commands[i]
		fmt.Fprintf(out, ".SS %s %s\n%s.\n", p.Name, c.Name, roff(c.About))
		roffLines(out, "", c.Usage)
		roffLines(out, "", c.Text)
		roffLines(out, ".PP\nexample:\n", c.Example)
		roffFlags(out, grouped(c.set(p.Name), c.Groups))
	}
	fmt.Fprintf(out, ".SH EXIT STATUS\n%s.\n", Codes)
}

// roffLines prints a text in lines as they are, if there is one, behind a heading.
func roffLines(out io.Writer, heading, text string) {
	if text = strings.Trim(text, "\n"); text == "" {
		return
	}
	fmt.Fprint(out, heading, ".PP\n.nf\n")
	for _, line := range strings.Split(text, "\n") {
		fmt.Fprintln(out, roff("    "+line))
	}
	fmt.Fprint(out, ".fi\n")
}

func roffFlags(out io.Writer, groups []titled) {
	for _, g := range groups {
		fmt.Fprintf(out, ".PP\n%s:\n", roff(g.title))
		for _, f := range g.flags {
			// The flag and its value are one line: what stands at the margin.
			fmt.Fprintf(out, ".TP\n.BI \"\\-%s \" \"%s\"\n", roff(f.name), roff(f.value))
			for _, line := range wrap(f.text, widest) {
				fmt.Fprintln(out, roff(line))
			}
		}
	}
}

// roff is a text that man prints as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
