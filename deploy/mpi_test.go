//go:build linux

package deploy

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/freeport"
)

// TestMPI has MPI's launchers start the nodes of a run. A node that is killed ends all.
func TestMPI(t *testing.T) {
	for launcher, words := range map[string][]string{
		"mpirun.openmpi": {"mpirun.openmpi", "--oversubscribe", "-n", "2"},
		"mpiexec.mpich":  {"mpiexec.mpich", "-n", "2"},
	} {
		t.Run(launcher, func(t *testing.T) {
			need(t, launcher)
			start := func(line []string) *exec.Cmd {
				c := command(t, line[0], line[1:]...)
				c.Env = append(c.Env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "ORWL_PORT="+freeport.Port(t))
				return c
			}
			solved(t, 2, output(t, start(llk23(words...))))

			c := start(endless(words...))
			if err := syscall.Kill(began(t, c)[1], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err == nil {
				t.Error("a run whose node was killed ends well")
			}
			gone(t, "llk23")
		})
	}
}
