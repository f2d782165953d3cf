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
	if all := p.flags(); all != nil {
		fmt.Fprint(out, ".SH FLAGS\n")
		roffFlags(out, all)
	}
	if len(p.Commands) > 0 {
		fmt.Fprint(out, ".SH COMMANDS\n")
	}
	for i := range p.Commands {
		c := &p.Commands[i]
		fmt.Fprintf(out, ".SS %s %s\n%s.\n", p.Name, c.Name, roff(c.About))
		if c.Example != "" {
			fmt.Fprintf(out, ".PP\n.nf\n    %s\n.fi\n", roff(c.Example))
		}
		roffFlags(out, c.flags(p.Name))
	}
	fmt.Fprintf(out, ".SH EXIT STATUS\n%d done, %d failed, %d not asked properly, %d interrupted.\n", Done, Failed, Misused, Interrupted)
}

func roffFlags(out io.Writer, all []listed) {
	for _, f := range all {
		fmt.Fprintf(out, ".TP\n.B \\-%s\n", roff(f.name))
		if f.value != "" {
			fmt.Fprintf(out, ".I %s\n", roff(f.value))
		}
		for _, line := range wrap(f.text, widest) {
			fmt.Fprintln(out, roff(line))
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
