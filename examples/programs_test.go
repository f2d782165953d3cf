package examples_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// programs is a folder with all examples and all steps of the tutorial.
var programs string

func TestMain(m *testing.M) { os.Exit(withPrograms(m)) }

func withPrograms(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "orwl-examples"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	return m.Run()
}

// built builds the programs once.
func built(t *testing.T) (folder string) {
	t.Helper()
	if rings.Race {
		t.Skip("-race: the programs are built without it")
	}
	rings.Source(t)
	if err := buildOnce(); err != nil {
		t.Fatal(err)
	}
	return programs
}

var buildOnce = sync.OnceValue(func() error { return build(programs) })

// build makes one binary of all programs, since linking is most of what they cost, and gives it the
// name of each. The go command reads each program with three changes: its package has a name of its
// own, main is Main, and its flags are a set of its own. This is also the set of package flag while the program runs. Only
// an overlay has these texts.
func build(folder string) error {
	files, err := filepath.Glob("*/main.go")
	if err != nil {
		return err
	}
	steps, err := filepath.Glob("tutorial/*/main.go")
	if err != nil {
		return err
	}
	o := overlay{folder: folder, replace: map[string]string{}}
	var imports, cases, names strings.Builder
	for _, file := range append(files, steps...) {
		dir := filepath.ToSlash(filepath.Dir(file))
		name := path.Base(dir)
		if err := o.asPackage(dir, name); err != nil {
			return err
		}
		fmt.Fprintf(&imports, "%q\n%sflag %q\n", examples+dir, name, examples+dir+"/flag")
		fmt.Fprintf(&cases, "case %q:\nflag.CommandLine = %sflag.CommandLine\n%s.Main()\n", name, name, name)
		fmt.Fprintln(&names, name)
	}
	all := fmt.Sprintf("package main\nimport (\n\"flag\"\n\"os\"\n\"path/filepath\"\n%s)\n"+
		"func main() {\nswitch filepath.Base(os.Args[0]) {\n%sdefault:\npanic(os.Args[0])\n}\n}\n", &imports, &cases)
	if err := o.add("all/main.go", []byte(all)); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		return err
	}
	config, binary := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "all")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-overlay", config, "-o", binary, "./all").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	for name := range strings.FieldsSeq(names.String()) {
		if err := os.Link(binary, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

const examples = "github.com/orwl/go-orwl/examples/"

// overlay is what the go command reads instead of the files of this folder.
type overlay struct {
	folder  string
	replace map[string]string
}

// add has the go command read text as a file of this folder.
func (o *overlay) add(file string, text []byte) error {
	as, err := filepath.Abs(filepath.FromSlash(file))
	if err != nil {
		return err
	}
	o.replace[as] = filepath.Join(o.folder, strconv.Itoa(len(o.replace))+".go")
	return os.WriteFile(o.replace[as], text, 0o600)
}

// asPackage makes a package of a program.
func (o *overlay) asPackage(dir, name string) error {
	files, err := filepath.Glob(filepath.FromSlash(dir) + "/*.go")
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") { // it belongs to package main
			as, err := filepath.Abs(file)
			if err != nil {
				return err
			}
			o.replace[as] = "" // no file
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if text, err = asPackage(text, dir, name); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := o.add(filepath.ToSlash(file), text); err != nil {
			return err
		}
	}
	return o.add(dir+"/flag/flag.go", []byte(flags))
}

// asPackage is a file of a program as a file of a package.
func asPackage(text []byte, dir, name string) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, 0)
	if err != nil {
		return nil, err
	}
	type edit struct {
		at  token.Pos
		old string
		new string
	}
	edits := []edit{{file.Name.Pos(), "main", name}}
	for _, i := range file.Imports {
		if i.Path.Value == `"flag"` {
			edits = append(edits, edit{i.Path.Pos(), i.Path.Value, strconv.Quote(examples + dir + "/flag")})
		}
	}
	for _, d := range file.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Recv == nil && f.Name.Name == "main" {
			edits = append(edits, edit{f.Name.Pos(), "main", "Main"})
		}
	}
	var out bytes.Buffer
	done := 0
	for _, e := range edits {
		at := set.Position(e.at).Offset
		out.Write(text[done:at])
		out.WriteString(e.new)
		done = at + len(e.old)
	}
	out.Write(text[done:])
	return out.Bytes(), nil
}

// flags is the package flag of a program: a set of its own, since all programs are initialized.
const flags = `package flag

import (
	"flag"
	"os"
)

var CommandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError)

var (
	Bool     = CommandLine.Bool
	Duration = CommandLine.Duration
	Float64  = CommandLine.Float64
	Int      = CommandLine.Int
	String   = CommandLine.String
)

func Parse() { _ = CommandLine.Parse(os.Args[1:]) }
`
