package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
)

// tool has a command that greets, and one that fails as it is told.
var tool = Program{Name: "tool", Commands: []Command{
	{Name: "greet", About: "say hello", Example: "tool greet -to you", Run: func(f *flag.FlagSet, args []string, out io.Writer) error {
		whom := f.String("to", "all", "say it to `NAME`")
		if err := Parse(f, args); err != nil {
			return err
		}
		if *whom == "" {
			return Misusef("-to is empty, want a name")
		}
		_, err := fmt.Fprintln(out, "hello", *whom)
		return err
	}},
	{Name: "list", About: "show nothing", Run: func(*flag.FlagSet, []string, io.Writer) error { return nil }},
	{Name: "fail", About: "fail", Run: func(f *flag.FlagSet, args []string, _ io.Writer) error {
		if node := f.Bool("node", false, "as a node of the run does"); Parse(f, args) == nil && *node {
			return fmt.Errorf("the run: %w", &launch.NodeError{Node: 1, Code: 7})
		}
		return errors.New("no luck")
	}},
}}

func TestExecute(t *testing.T) {
	const overview = `usage: tool COMMAND [FLAGS]

  greet      say hello
  list       show nothing
  fail       fail

  help       show what a command does and its flags: tool help COMMAND
  version    show the version of this program
  completion print what completes command lines in bash, zsh or fish
  man        print the manual page, as in: tool man | man -l -

exit codes: 0 done, 1 failed, 2 not asked properly, 130 interrupted, 143 terminated
`
	const greeting = "tool greet: say hello\n\nusage: tool greet [FLAGS]\n\nexample:\n  tool greet -to you\n\nflags:\n  -to NAME              say it to NAME (default \"all\")\n"
	for _, row := range []struct {
		args      string
		code      int
		out, said string
	}{
		{"", Misused, "", overview},
		{"-h", Done, overview, ""},
		{"--help", Done, overview, ""},
		{"help", Done, overview, ""},
		{"grete", Misused, "", "tool: no command \"grete\" (did you mean greet?): want greet, list or fail; tool -h tells more\n"},
		{"greet", Done, "hello all\n", ""},
		{"greet -to you", Done, "hello you\n", ""},
		{"greet -h", Done, greeting, ""},
		{"help greet", Done, greeting, ""},
		{"greet -to=", Misused, "", "tool greet: -to is empty, want a name\ntool greet -h shows the flags\n"},
		{"greet you", Misused, "", "tool greet: unexpected argument \"you\"\ntool greet -h shows the flags\n"},
		{"greet -x", Misused, "", "tool greet: no flag -x: want -to\ntool greet -h shows the flags\n"},
		{"fail", Failed, "", "tool fail: no luck\n"},
		{"fail -node", 7, "", "tool fail: the run: " + (&launch.NodeError{Node: 1, Code: 7}).Error() + "\n"},
	} {
		var out, said strings.Builder
		code := tool.Execute(strings.Fields(row.args), &out, &said)
		if code != row.code || out.String() != row.out || said.String() != row.said {
			t.Errorf("tool %s: %d\n%s%s\nwant %d\n%s%s", row.args, code, out.String(), said.String(), row.code, row.out, row.said)
		}
	}
}

// A command that does not look at what its prints return fails on a full disk, too. A process that
// it starts gets the output itself.
func TestFullDisk(t *testing.T) {
	var said strings.Builder
	if code := tool.Execute([]string{"greet"}, noRoom{}, &said); code != Failed || said.String() != "tool greet: no room\n" {
		t.Errorf("exit code %d, %q", code, said.String())
	}
	if Below(&output{Writer: noRoom{}}) != io.Writer(noRoom{}) || Below(noRoom{}) != io.Writer(noRoom{}) {
		t.Error("Below is not the writer that was given")
	}
}

type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errors.New("no room") }

// TestNodes reads the flags of a program of several nodes, and refuses what contradicts the launcher.
func TestNodes(t *testing.T) {
	one, two := launch.Place{Nodes: 1, How: launch.Alone}, launch.Place{Nodes: 2, How: launch.Environment}
	ssh := launch.Place{Nodes: 2, How: launch.SSH}
	for _, c := range []struct {
		args   string
		place  launch.Place
		err    string // or none
		nodes  int
		spawns bool
	}{
		{"", one, "", 0, false},
		{"-nodes 1", one, "", 1, false},
		{"-nodes 3", one, "", 3, true},
		{"-ssh a", one, "", 1, true},
		{"-ssh a,b", one, "", 2, true},
		{"-ssh a,b -nodes 4", one, "", 4, true},
		{"-ssh a,b -nodes 1", one, "-nodes is 1, want at least 2", 0, false},
		{"-nodes 2 -join 2", one, "want one of them", 0, false},
		{"-nodes 3", two, "-nodes is 3, want 2, or no -nodes", 0, false},
		{"-nodes 2", two, "", 2, false},
		{"-ssh a,b", two, "want none, since this is node 0 of 2", 0, false},
		{"-ssh a,b", ssh, "", 2, false},
	} {
		var n Nodes
		f := flag.NewFlagSet("", flag.ContinueOnError)
		n.Define(f, 8, 8, "`N` nodes")
		if err := Parse(f, strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		_, err := n.Place() // of this test, which nothing has started
		if err == nil {
			err = n.suits(c.place)
		}
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s in %v: %v, want %q", c.args, c.place, err, c.err)
			}
		case err != nil || n.Nodes != c.nodes || n.Spawns(c.place) != c.spawns:
			t.Errorf("%s in %v: %v, %d nodes, spawns %v, want %d and %v", c.args, c.place, err, n.Nodes, n.Spawns(c.place), c.nodes, c.spawns)
		}
	}
}

// said runs a command line and returns what it prints.
func said(args ...string) (code int, out, complaints string) {
	var o, c strings.Builder
	code = tool.Execute(args, &o, &c)
	return code, o.String(), c.String()
}

// The nearest words come first, and words that are as near keep their order.
func TestNearest(t *testing.T) {
	words := []string{"TAS", "MCS", "D-MCS", "HMCS", "mcs-flushed"}
	for given, want := range map[string]string{
		"mcs": "MCS D-MCS", "dmcs": "D-MCS MCS", "hmsc": "HMCS MCS", "MCS-FLASHED": "mcs-flushed MCS", "": "TAS MCS",
	} {
		if got := strings.Join(Nearest(given, words, 2), " "); got != want {
			t.Errorf("%q: %s, want %s", given, got, want)
		}
	}
	if got := Nearest("mcs", words, 9); len(got) != len(words) || words[0] != "TAS" {
		t.Errorf("of all words %v are the nearest, and the words are %v", got, words)
	}
}

// A mistyped word is answered with the one that was meant, and a value with what is wanted.
func TestWords(t *testing.T) {
	f := func() *flag.FlagSet {
		f := flag.NewFlagSet("tool", flag.ContinueOnError)
		f.SetOutput(new(strings.Builder))
		f.Duration("idle", 0, "")
		f.Int("nodes", 0, "")
		f.Bool("json", false, "")
		f.Float64("share", 0, "")
		f.Uint64("fence", 0, "")
		return f
	}
	for args, want := range map[string]string{
		"-idle 5":      `-idle is "5", want a time with its unit, such as 300ms, 5s or 2m`,
		"-nodes x":     `-nodes is "x", want a whole number`,
		"-json=maybe":  `-json is "maybe", want true or false`,
		"-share much":  `-share is "much", want a number`,
		"-fence -1":    `-fence is "-1", want a whole number that is not negative`,
		"-ndoes 4":     "no flag -ndoes (did you mean -nodes?)",
		"-xylophone 4": "no flag -xylophone: want -fence, -idle, -json, -nodes or -share",
		"-idle":        "-idle needs a value: -idle duration",
	} {
		if err := ParseFlags(f(), strings.Fields(args)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// No line of help is longer than a terminal. Flags come in their groups, in the order of the group.
func TestHelp(t *testing.T) {
	f := flag.NewFlagSet("tool", flag.ContinueOnError)
	f.String("long", "here", strings.Repeat("a word and another, ", 20)+"`FILE`")
	f.Bool("brief", false, "be brief")
	f.Bool("a-name-that-takes-the-whole-column", false, "say so")
	f.Bool("lost", false, "be in no group")
	Old(f, "short", "brief")
	var out strings.Builder
	c := Command{Text: "\nWords.\n", Example: "tool -brief\ntool", Groups: []Group{{"most", "long brief"}, {"rest", "a-name-that-takes-the-whole-column"}}}
	c.help("tool", "do", f, &out)
	for line := range strings.Lines(out.String()) {
		if len(line) > 100 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
	for _, want := range []string{"tool: do\n\nusage: tool [FLAGS]\n\nWords.\n\nexample:\n  tool -brief\n  tool\n\nmost:\n  -long FILE            a word",
		"(default \"here\")\n  -brief                be brief\n\nrest:\n  -a-name-that-takes-the-whole-column\n                        say so\n\nother flags:\n  -lost "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "short") {
		t.Errorf("the help shows an old name:\n%s", out.String())
	}
	if err := ParseFlags(f, []string{"-short"}); err != nil || !Given(f)["brief"] || Given(f)["short"] {
		t.Errorf("given are %v, %v", Given(f), err)
	}
}

// Lint finds a flag without a group, a second meaning of a shared name, a name that another command or
// another program has, a group's flag that is not there, a long line, and a command without an example.
func TestLint(t *testing.T) {
	define := func(names ...string) func(*flag.FlagSet, []string, io.Writer) error {
		return func(f *flag.FlagSet, args []string, _ io.Writer) error {
			for _, name := range names {
				f.String(name, "", "is `X`")
			}
			return Parse(f, args)
		}
	}
	p := Program{Name: "tool", Commands: []Command{
		{Name: "one", Example: "tool", Groups: []Group{{"all", "here json gone"}}, Run: define("here", "json", "stray")},
		{Name: "two", Groups: []Group{{"all", "here theirs"}}, Text: strings.Repeat("x", 100), Run: define("here", "theirs")},
	}}
	other := Program{Name: "other", Flags: func() *flag.FlagSet {
		f := flag.NewFlagSet("other", flag.ContinueOnError)
		f.Bool("theirs", false, "")
		return f
	}}
	page := p.Page(other.Page("# Commands\n"))
	if again := other.Page(p.Page(page)); again != page {
		t.Errorf("the page becomes\n%s\nand was\n%s", again, page)
	}
	said := strings.Join(p.Lint(page), "\n")
	for _, want := range []string{
		"tool one -h: -stray is in no group", "tool one -h: there is no -gone", `tool one -json is "is ` + "`X`" + `", want it to contain`,
		"tool one and tool two both have -here", "other and tool two both have -theirs", "tool two -h: a line of 100 bytes", "tool two -h has no example",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if n := strings.Count(said, "\n") + 1; n != 7 {
		t.Errorf("%d complaints:\n%s", n, said)
	}
}

// Bash completes commands, their flags, and the shells.
func TestBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here: ", err)
	}
	code, script, _ := said("completion", "bash")
	if code != Done {
		t.Fatal(code)
	}
	file := filepath.Join(t.TempDir(), "completion")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"tool gr": "greet", "tool ": "greet list fail help version completion man", "tool greet -": "-to", "tool fail -n": "-node",
		"tool completion z": "zsh", "tool help f": "fail", "tool greet fi": "",
	} {
		run := exec.Command(bash, "-c", `source "$0"; read -ra COMP_WORDS <<< "$1"; [[ $1 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _tool; echo "${COMPREPLY[*]}"`, file, line)
		out, err := run.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q completes to %q, %v, want %q", line, got, err, want)
		}
	}
}

// The scripts for other shells name each command and each flag; a shell that is not known is misuse.
func TestOtherShells(t *testing.T) {
	for shell, wants := range map[string][]string{
		"zsh":  {"#compdef tool", "'greet:say hello'", `'-to:say it to NAME (default "all")'`, "compdef _tool tool"},
		"fish": {"-a greet -d 'say hello'", "-n '__fish_seen_subcommand_from greet' -o to -r -d", "-o node -d 'as a node of the run does'"},
	} {
		code, out, _ := said("completion", shell)
		for _, want := range wants {
			if code != Done || !strings.Contains(out, want) {
				t.Errorf("%s: %d, want %s in\n%s", shell, code, want, out)
			}
		}
	}
	if code, _, complaints := said("completion", "tcsh"); code != Misused || !strings.Contains(complaints, "want bash, zsh or fish") {
		t.Errorf("tcsh: %d %s", code, complaints)
	}
}

// The manual page has each command and flag, and no line that man would take for a macro.
func TestManual(t *testing.T) {
	_, out, _ := said("man")
	for _, want := range []string{".TH TOOL 1", ".SS tool greet\nsay hello.\n.PP\nexample:\n.PP\n.nf\n    tool greet \\-to you\n.fi\n.PP\nflags:\n", ".TP\n.BI \"\\-to \" \"NAME\"\nsay it to NAME"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if got, want := roff(".5 of a-b\\"), `\&.5 of a\-b\e`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestVersion(t *testing.T) {
	for _, flag := range []string{"version", "-version", "--version"} {
		if code, out, _ := said(flag); code != Done || !strings.HasPrefix(out, "tool ") || !strings.Contains(out, "go1.") {
			t.Errorf("%s: %d %q", flag, code, out)
		}
	}
	if code, out, complaints := said("version", "-json"); code != Misused || out != "" || complaints != "tool version: unexpected argument \"-json\"\n" {
		t.Errorf("version -json: %d %q %q", code, out, complaints)
	}
	info := &debug.BuildInfo{GoVersion: "go1.99", Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}}
	if got := version(info); !strings.HasPrefix(got, "of no release (commit 0123456789ab, changed), go1.99, ") {
		t.Error(got)
	}
	built = "v1.2.2"
	defer func() { built = "" }()
	if got := version(info); !strings.HasPrefix(got, "v1.2.2 (commit") {
		t.Error(got)
	}
	info.Main.Version = "v1.2.3" // Go knows better
	if got := version(info); !strings.HasPrefix(got, "v1.2.3 (commit") {
		t.Error(got)
	}
}

// Ctrl-C ends the context, and is told from SIGTERM.
func TestInterrupts(t *testing.T) {
	for signal, want := range map[os.Signal]bool{os.Interrupt: true, syscall.SIGTERM: false} {
		ctx, stop, interrupted := Interrupts()
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := self.Signal(signal); err != nil {
			t.Skip("this system sends no signals: ", err)
		}
		patient, cancel := context.WithTimeout(t.Context(), time.Minute)
		select {
		case <-ctx.Done():
		case <-patient.Done():
			t.Fatal("the context does not end")
		}
		cancel()
		stop()
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) || (cause.Error() == "interrupted") != want {
			t.Errorf("%v: the cause is %v", signal, cause)
		}
		if interrupted() != want {
			t.Errorf("%v: interrupted %v, want %v", signal, interrupted(), want)
		}
	}
}
