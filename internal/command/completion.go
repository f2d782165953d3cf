package command

import (
	"fmt"
	"io"
	"strings"
)

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
