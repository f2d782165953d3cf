package orwl

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// A program of one process links no network, nor anything that only the network needs.
func TestAloneLinksNoNetwork(t *testing.T) {
	rings.Needs(t, rings.Change)
	links := func(folder string) (found []string) {
		out, err := exec.Command("go", "list", "-deps", folder).Output()
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.Lines(string(out)) {
			for _, banned := range []string{"libp2p", "multiformats", "prometheus", "go-orwl/net/p2p", "net/http"} {
				if strings.Contains(name, banned) {
					found = append(found, strings.TrimSpace(name))
				}
			}
		}
		return found
	}
	if found := links("./testdata/alone"); found != nil {
		t.Errorf("it links %s", strings.Join(found, " "))
	}
	if links("./nodes") == nil {
		t.Error("package nodes seems to link no network, so this test cannot fail")
	}
}

// Such a program runs alone. As one of several nodes it says what to do.
func TestAloneIsNoNode(t *testing.T) {
	rings.Needs(t, rings.Change)
	program := filepath.Join(t.TempDir(), "alone")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", program, "./testdata/alone").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct {
		env  []string
		want string
		ends bool // well
	}{
		{nil, "[20] <nil>", true},
		{[]string{"ORWL_NODE=0", "ORWL_NODES=2", "ORWL_LISTEN=127.0.0.1:0"}, `import _ "github.com/orwl/go-orwl/orwl/nodes"`, false},
	} {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), c.env...)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), c.want) || (err == nil) != c.ends {
			t.Errorf("with %v it ends with %v, and says\n%swant %s", c.env, err, out, c.want)
		}
	}
}
