package rows

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// fused are the instructions that multiply and add without rounding in between.
var fused = regexp.MustCompile(`\t(FN?M(ADD|SUB)[SD]?|VFN?M(ADD|SUB)\w+|WFMADB|FMADD\w*)\t`)

// compiled is the machine code of a package, or of one with its tests, for a processor, as the compiler lists it.
func compiled(t *testing.T, processor []string, folder string, command ...string) string {
	t.Helper()
	build := exec.Command("go", append(command, "-gcflags=-S", "-o", filepath.Join(t.TempDir(), "built"), ".")...)
	build.Dir, build.Env = folder, append(os.Environ(), processor...)
	code, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	return string(code)
}

// The compiler fuses no product with a sum where bits have to be the same on all processors. In a planted function it does.
func TestNothingIsFused(t *testing.T) {
	rings.Needs(t, rings.Night)
	planted := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module planted\n\ngo 1.24\n",
		"sum.go": "package planted\n\nfunc Sum(x, y, z float64) float64 { return x*y + z }\n",
	} {
		if err := os.WriteFile(filepath.Join(planted, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, processor := range [][]string{{"GOARCH=amd64", "GOAMD64=v3"}, {"GOARCH=arm64"}} {
		name := strings.Join(processor, " ")
		if !fused.MatchString(compiled(t, processor, planted, "build")) {
			t.Errorf("%s: the planted function is not fused: this test finds nothing", name)
		}
		rows := compiled(t, processor, ".", "test", "-c") // the tests have sums of both types
		for _, kind := range []string{"float32", "float64"} {
			if !strings.Contains(rows, "Weights[go.shape."+kind+"]).sum") {
				t.Errorf("%s: the listing has no sum of %s: this test finds nothing", name, kind)
			}
		}
		listings := map[string]string{"/rows.go:": rows}
		for _, folder := range []string{"orwl/exact", "orwl/stencil"} {
			listings["/"+folder+"/"] = compiled(t, processor, filepath.Join("..", "..", filepath.FromSlash(folder)), "build")
		}
		for files, code := range listings {
			found := false
			for line := range strings.Lines(code) {
				if !strings.Contains(line, files) {
					continue
				}
				if found = true; fused.MatchString(line) && !asked(t, line) {
					t.Errorf("%s: %s", name, strings.TrimSpace(line))
				}
			}
			if !found {
				t.Errorf("%s: the listing has nothing of %s: this test finds nothing", name, files)
			}
		}
	}
}

var place = regexp.MustCompile(`\(([^()]+\.go):(\d+)\)`)

// asked reports whether the source of an instruction asks for a fused product.
func asked(t *testing.T, instruction string) bool {
	t.Helper()
	at := place.FindStringSubmatch(instruction)
	if at == nil {
		t.Fatalf("where is the source of %q?", instruction)
	}
	text, err := os.ReadFile(at[1])
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(at[2])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(strings.Split(string(text), "\n")[number-1], "math.FMA(")
}
