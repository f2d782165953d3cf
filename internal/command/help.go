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

// builtins are the words beside the commands that begin a command line.
var builtins = []string{"help", "version", "completion", "man"}

// Completion prints the script by which a shell completes the program's command lines: its
// commands, their flags, and files.
func (p Program) Completion(out io.Writer, shell string) error {
	switch shell {
	case "bash":
		p.bash(out)
	case "zsh":
		p.zsh(out)
	case "fish":
		p.fish(out)
	default:
		return fmt.Errorf("%q is no shell that is known here: want bash, zsh or fish, as in: source <(%s completion bash)", shell, p.Name)
	}
	return nil
}

// first are the words that may come first.
func (p Program) first() string {
	words := append(p.list(), builtins...)
	for _, f := range p.flags() {
		words = append(words, "-"+f.name)
	}
	return strings.Join(words, " ")
}

// words are the flags as they are typed.
func words(all []listed) string {
	var b strings.Builder
	for i, f := range all {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("-" + f.name)
	}
	return b.String()
}

func (p Program) bash(out io.Writer) {
	fmt.Fprintf(out, `# %[1]s in bash: source <(%[1]s completion bash)
_%[1]s() {
	local word=${COMP_WORDS[COMP_CWORD]} words=
	if [[ $COMP_CWORD -eq 1 ]]; then
		words=%[2]q
	else
		case ${COMP_WORDS[1]} in
		help) words=%[3]q ;;
		completion) words="bash zsh fish" ;;
`, p.Name, p.first(), strings.Join(p.list(), " "))
	for i := range p.Commands {
		c := &p.Commands[i]
		fmt.Fprintf(out, "\t\t%s) words=%q ;;\n", c.Name, words(c.flags(p.Name)))
	}
	fmt.Fprintf(out, `		*) words=%[2]q ;;
		esac
		[[ $word == -* || ${COMP_WORDS[1]} == help || ${COMP_WORDS[1]} == completion ]] || words=
	fi
	COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -o bashdefault -F _%[1]s %[1]s
`, p.Name, words(p.flags()))
}

// quoted is a text between single quotes, as shells have it.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (p Program) zsh(out io.Writer) {
	fmt.Fprintf(out, "#compdef %[1]s\n# %[1]s in zsh: source <(%[1]s completion zsh)\n_%[1]s() {\n\tif (( CURRENT == 2 )); then\n\t\tlocal -a commands=(\n", p.Name)
	for _, c := range p.Commands {
		fmt.Fprintf(out, "\t\t\t%s\n", quoted(c.Name+":"+c.About))
	}
	for _, name := range builtins {
		fmt.Fprintf(out, "\t\t\t%s\n", name)
	}
	fmt.Fprint(out, "\t\t)\n\t\t_describe command commands\n")
	zshFlags(out, p.flags())
	fmt.Fprintf(out, "\t\treturn\n\tfi\n\tcase $words[2] in\n\thelp) compadd %s ;;\n\tcompletion) compadd bash zsh fish ;;\n", strings.Join(p.list(), " "))
	for i := range p.Commands {
		c := &p.Commands[i]
		fmt.Fprintf(out, "\t%s)\n", c.Name)
		zshFlags(out, c.flags(p.Name))
		fmt.Fprint(out, "\t\t_files ;;\n")
	}
	fmt.Fprint(out, "\t*)\n")
	zshFlags(out, p.flags())
	fmt.Fprintf(out, "\t\t_files ;;\n\tesac\n}\ncompdef _%[1]s %[1]s\n", p.Name)
}

func zshFlags(out io.Writer, all []listed) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(out, "\t\tlocal -a flags=(\n")
	for _, f := range all {
		fmt.Fprintf(out, "\t\t\t%s\n", quoted("-"+f.name+":"+f.text))
	}
	fmt.Fprint(out, "\t\t)\n\t\t[[ $PREFIX == -* ]] && _describe flag flags -o\n")
}

func (p Program) fish(out io.Writer) {
	fmt.Fprintf(out, "# %[1]s in fish: %[1]s completion fish | source\n", p.Name)
	for _, c := range p.Commands {
		fmt.Fprintf(out, "complete -c %s -n __fish_use_subcommand -a %s -d %s\n", p.Name, c.Name, quoted(c.About))
	}
	for _, name := range builtins {
		fmt.Fprintf(out, "complete -c %s -n __fish_use_subcommand -a %s\n", p.Name, name)
	}
	fmt.Fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from help' -xa %s\n", p.Name, quoted(strings.Join(p.list(), " ")))
	fmt.Fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from completion' -xa 'bash zsh fish'\n", p.Name)
	fishFlags := func(when string, all []listed) {
		for _, f := range all {
			needs := ""
			if f.value != "" {
				needs = " -r"
			}
			fmt.Fprintf(out, "complete -c %s -n %s -o %s%s -d %s\n", p.Name, quoted(when), f.name, needs, quoted(f.text))
		}
	}
	for i := range p.Commands {
		c := &p.Commands[i]
		fishFlags("__fish_seen_subcommand_from "+c.Name, c.flags(p.Name))
	}
	fishFlags("__fish_use_subcommand", p.flags())
}
