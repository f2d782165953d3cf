//go:build unix

package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The batch script gives its tasks a key of their own that no other user can read, and removes
// it afterwards. A fake srun looks at the key.
func TestSlurmFile(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("batch scripts of Slurm need bash: ", err)
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "deploy", "slurm.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte("#!/bin/sh\necho \"$@\"\nls -l \"$ORWL_KEY_FILE\" | cut -c1-10\ncat \"$ORWL_KEY_FILE\"\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(soon(t), bash, script)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_SUBMIT_DIR="+dir, "SLURM_JOB_ID=4711")
	out, _ := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want srun's, 3", code)
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) != 3 || lines[0] != "--kill-on-bad-exit=1 ./prog" || lines[1] != "-rw-------" || len(lines[2]) != 64 {
		t.Errorf("srun sees %q", lines)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".orwl*")); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
