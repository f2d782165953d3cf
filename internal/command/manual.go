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
	fmt.Fprintf(out, ".SH SYNOPSIS\n.B %s\n", p.Name)
	if len(p.Commands) > 0 {
		fmt.Fprint(out, ".I COMMAND\n")
	}
	fmt.Fprint(out, "[FLAGS]\n")
	if p.Flags != nil {
		roffText(out, p.Alone)
		fmt.Fprint(out, ".SH FLAGS\n")
		roffFlags(out, grouped(p.Flags(), p.Alone.Groups))
	}
	if len(p.Commands) > 0 {
		fmt.Fprint(out, ".SH COMMANDS\n")
	}
	for i := range p.Commands {
		c := &p.Commands[i]
		fmt.Fprintf(out, ".SS %s %s\n%s.\n", p.Name, c.Name, roff(c.About))
		roffText(out, *c)
		roffFlags(out, grouped(c.set(p.Name), c.Groups))
	}
	fmt.Fprintf(out, ".SH EXIT STATUS\n%s.\n", Codes)
}

// roffText prints what a command says beside its flags, in lines as they are.
func roffText(out io.Writer, c Command) {
	for _, text := range []string{c.Usage, strings.Trim(c.Text, "\n"), c.Example} {
		if text == "" {
			continue
		}
		fmt.Fprint(out, ".PP\n.nf\n")
		for _, line := range strings.Split(text, "\n") {
			fmt.Fprintln(out, roff("    "+line))
		}
		fmt.Fprint(out, ".fi\n")
	}
}

func roffFlags(out io.Writer, groups []titled) {
	for _, g := range groups {
		fmt.Fprintf(out, ".PP\n%s:\n", roff(g.title))
		for _, f := range g.flags {
			fmt.Fprintf(out, ".TP\n.B \\-%s\n", roff(f.name))
			if f.value != "" {
				fmt.Fprintf(out, ".I %s\n", roff(f.value))
			}
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
