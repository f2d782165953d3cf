package crew

import (
	"fmt"
	"os"
	"os/exec"
)

// Crew is the processes that this one has started. The zero value has none.
type Crew []*exec.Cmd

// Hire starts a process with more variables, KEY=value, in its environment. The files are its
// descriptors from 3 on.
func (c *Crew) Hire(environment []string, files ...*os.File) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	other := exec.Command(program)
	other.Env = append(os.Environ(), environment...)
	other.ExtraFiles = files
	other.Stderr = os.Stderr
	if err := other.Start(); err != nil {
		return err
	}
	*c = append(*c, other)
	return nil
}

// Wait lets the processes end by themselves. It returns the error of the first one that failed.
func (c *Crew) Wait() error {
	for _, other := range *c {
		if err := other.Wait(); err != nil {
			return fmt.Errorf("another process of this program: %w", err)
		}
	}
	*c = nil
	return nil
}

// Dismiss ends the processes that Wait has not waited for.
func (c *Crew) Dismiss() {
	for _, other := range *c {
		_ = other.Process.Kill() // it may have ended
		_ = other.Wait()         // it was killed, and says so
	}
	*c = nil
}
