//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/browser"
	"github.com/orwl/go-orwl/internal/freeport"
	"github.com/orwl/go-orwl/internal/rings"
)

// TestPageOfAKilledNode kills a node of three while a page shows the run. The page, which node 0 serves, says which one was lost, and
// that the others go on from a cut.
func TestPageOfAKilledNode(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := browser.Open(t, 1280, 900)
	address := freeport.Addresses(t, 3)[0]
	dying(t, address)
	b.Show("http://" + address + "/")
	says := func(id, words string) {
		t.Helper()
		b.Until(fmt.Sprintf(`$(%q).innerText.replace(/\s+/g, ' ').includes(%q)`, id, words))
	}
	says("life", "Life 2 since ")
	says("life", "from the cut behind round ")
	says("past", " on 3 nodes, ended: node 1: ")
	says("head", "It moves")
	says("spent", "computes: its body runs")
	b.Until(`shown().nodes.length === 2 && shown().life.cut_round > shown().life.from_round`)
	says("life", "If a node is lost now, the others go on from there.")
	b.Shot("killed")
}

// dying starts a run of three nodes with metrics that would go on until the test ends. Node 1 dies in it, and the others go on. It
// returns when node 0 can be asked.
func dying(t *testing.T, address string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], strings.Fields("-nodes 3 -grid 6x1 -block 50x200 -sweeps 1 -iters 1000000000 -verify=false -metrics "+address)...)
	cmd.Env = append(os.Environ(), envProgram+"=mortal", endVariable+"=1 9 20000 sweep")
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	opened, drained := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(drained)
		for lines, once := bufio.NewScanner(said), sync.OnceFunc(func() { close(opened) }); lines.Scan(); {
			if strings.Contains(lines.Text(), fmt.Sprintf("http://%s/", address)) {
				once()
			}
		}
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		<-drained
		if exit := (*exec.ExitError)(nil); !errors.As(cmd.Wait(), &exit) || exit.ExitCode() != 130 {
			t.Errorf("it ends with %v", exit)
		}
	})
	select {
	case <-opened:
	case <-drained:
		t.Fatal("it has ended")
	}
}
