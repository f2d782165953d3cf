package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

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
