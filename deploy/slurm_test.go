//go:build linux

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/freeport"
)

// slurm is a cluster of this host, for one test.
func slurm(t *testing.T) (start func(name string, args ...string) *exec.Cmd) {
	t.Helper()
	need(t, "munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo", "squeue")
	dir := t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"state", "spool", "munge"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, 0o400, strings.Repeat("a key of this test ", 10), at("munge/key"))
	conf := write(t, 0o600, fmt.Sprintf(`ClusterName=orwltest
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]s
SlurmdPort=%[3]s
SlurmUser=%[4]s
SlurmdUser=%[4]s
AuthType=auth/munge
AuthInfo=socket=%[5]s/munge/socket
StateSaveLocation=%[5]s/state
SlurmdSpoolDir=%[5]s/spool
SlurmctldPidFile=%[5]s/slurmctld.pid
SlurmdPidFile=%[5]s/slurmd.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=%[1]s Default=YES State=UP
`, host, freeport.Port(t), freeport.Port(t), me.Username, dir), at("slurm.conf"))
	start = func(name string, args ...string) *exec.Cmd {
		c := command(t, name, args...)
		c.Env = append(c.Env, "SLURM_CONF="+conf)
		return c
	}
	daemon(t, "munged", "--foreground", "--force", "--num-threads=2", "--key-file="+at("munge/key"), "--socket="+at("munge/socket"),
		"--pid-file="+at("munge/pid"), "--log-file="+at("munge/log"), "--seed-file="+at("munge/seed"))
	until(t, "munged listens", func() bool { _, err := os.Stat(at("munge/socket")); return err == nil })
	daemon(t, "slurmctld", "-D", "-f", conf)
	daemon(t, "slurmd", "-D", "-f", conf)
	until(t, "the host is idle", func() bool {
		out, _ := start("sinfo", "--noheader", "--format=%t").Output() // it may not be there yet
		return strings.TrimSpace(string(out)) == "idle"
	})
	t.Cleanup(func() { // the daemons of a job end after it
		until(t, "no job is left", func() bool {
			out, err := start("squeue", "--noheader", "--states=all", "--format=%T").Output()
			return err == nil && !strings.Contains(string(out), "RUNNING") && !strings.Contains(string(out), "COMPLETING")
		})
	})
	return start
}

// TestSlurm runs nodes by srun, and the batch script, on a real Slurm.
func TestSlurm(t *testing.T) {
	start := slurm(t)
	words := llk23("srun", "-n", "2")
	solved(t, 2, output(t, start(words[0], words[1:]...)))

	// The script calls ./prog in the folder where it is submitted.
	script, err := filepath.Abs("slurm.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	batch := func(program []string) *exec.Cmd {
		write(t, 0o755, "#!/bin/sh\nexec "+strings.Join(program, " ")+"\n", folder, "prog")
		c := start("sbatch", "--wait", "--nodes=1", "--ntasks-per-node=2", "--output="+filepath.Join(folder, "out"), script)
		c.Dir = folder
		return c
	}
	output(t, batch(llk23()))
	out, err := os.ReadFile(filepath.Join(folder, "out"))
	if err != nil {
		t.Fatal(err)
	}
	solved(t, 2, out)

	// A task that is killed ends the job.
	c := batch(endless())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the job sweeps", func() bool {
		out, _ := os.ReadFile(filepath.Join(folder, "out"))
		return strings.Contains(string(out), "sweeping")
	})
	nodes := processes(t, "llk23")
	if len(nodes) != 2 {
		t.Fatalf("the job has %d nodes, want 2", len(nodes))
	}
	if err := syscall.Kill(nodes[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("a job whose node was killed ends well")
	}
	gone(t, "llk23")
	if left, err := filepath.Glob(filepath.Join(folder, ".orwl*")); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
