package folder

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// victimVariable gives its folder to a test binary that TestKill has started.
const victimVariable = "ORWL_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimVariable); dir != "" {
		fmt.Println(victim(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// victim makes cuts until it is killed, and prints their rounds.
func victim(dir string) error {
	f, err := Open(Directory(dir), 0, digest)
	if err != nil {
		return err
	}
	found, err := f.Look()
	if err != nil {
		return err
	}
	k := lives.Key{Life: found.Life + 1, Run: 1, Round: 1}
	if len(found.Parts) > 0 {
		k.Round = found.Parts[0].Round
		if err := f.Keep(found.Parts[0].Key); err != nil {
			return err
		}
	}
	for n := (node{program{1, 30}, 0, f}); ; k.Round++ {
		if err := errors.Join(n.save(k), f.Keep(k)); err != nil {
			return err
		}
		fmt.Println(k.Life, k.Round)
	}
}

var kills = rings.Size("folder.kills", 4, 12, 100, "how often TestKill kills a process")

// A process that is killed at any moment leaves the last two cuts that it has kept, and no lock. The next one goes on.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	for n := range kills.N() {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), victimVariable+"="+dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var made []lives.Key
		for lines := bufio.NewScanner(out); lines.Scan(); {
			k := lives.Key{Run: 1}
			if _, err := fmt.Sscan(lines.Text(), &k.Life, &k.Round); err != nil {
				t.Fatalf("the process says %q", lines.Text())
			}
			made = append(made, k)
			if len(made) == 2+n {
				_ = c.Process.Kill() // it may have ended
			}
		}
		if err := c.Wait(); err == nil || c.ProcessState.ExitCode() == 1 {
			t.Fatalf("it ends with %v", err)
		}
		f, err := Open(Directory(dir), 0, digest)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := whole(f)
		if err != nil {
			t.Fatal(err)
		}
		last, before := made[len(made)-1], made[len(made)-2]
		next := lives.Key{Life: last.Life, Run: 1, Round: last.Round + 1} // it may have been kept, and not printed
		if !slices.Contains(keys, last) || !slices.Contains(keys, before) && !slices.Contains(keys, next) {
			t.Errorf("kill %d: %v are whole, and %v and %v were kept", n, keys, before, last)
		}
		if made[0].Life != uint64(n+1) {
			t.Errorf("kill %d: life %d", n, made[0].Life)
		}
		if err := f.Close(false); err != nil {
			t.Fatal(err)
		}
	}
}
