package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// The environment of a process that orwl model -window shm starts: its rank, and
// the tree, which an irregular machine has in its text as well.
const (
	envRank = "ORWL_MODEL_RANK"
	envTree = "ORWL_MODEL_TREE"
)

// fabricFD is the first of exec.Cmd.ExtraFiles in the started process.
const fabricFD = 3

// measureProcesses runs a meter on ranks that are processes: this one is rank 0,
// the others are this program again.
func measureProcesses(tree *topology.Tree) (model.Model, error) {
	fabric, err := shm.Create(shm.Options{Topology: tree})
	if err != nil {
		return model.Model{}, err
	}
	defer fabric.Close()
	var others crew
	defer others.dismiss()
	for p := 1; p < tree.Ranks(); p++ {
		if err := others.hire(rma.Rank(p), tree, fabric.File()); err != nil {
			return model.Model{}, err
		}
	}
	meter, err := model.NewMeter(fabric)
	if err != nil {
		return model.Model{}, err
	}
	machine, err := play(fabric, meter, 0)
	if err != nil {
		return model.Model{}, err
	}
	return machine, others.wait()
}

// crew is the processes that this one has started.
type crew []*exec.Cmd

// hire starts the process of rank p.
func (c *crew) hire(p rma.Rank, tree *topology.Tree, fabric *os.File) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	other := exec.Command(program)
	other.Env = append(os.Environ(), envRank+"="+strconv.Itoa(int(p)), envTree+"="+tree.String())
	other.ExtraFiles = []*os.File{fabric}
	other.Stderr = os.Stderr
	if err := other.Start(); err != nil {
		return err
	}
	*c = append(*c, other)
	return nil
}

// wait lets the processes end by themselves.
func (c *crew) wait() error {
	for _, other := range *c {
		if err := other.Wait(); err != nil {
			return fmt.Errorf("a measuring process: %w", err)
		}
	}
	*c = nil
	return nil
}

// dismiss ends the processes that have not been waited for.
func (c *crew) dismiss() {
	for _, other := range *c {
		other.Process.Kill()
		other.Wait() // it was killed, and says so
	}
}

// measuringProcess reports whether this process is one that measureProcesses
// started, and if so does its part.
func measuringProcess() (bool, error) {
	rank, started := os.LookupEnv(envRank)
	if !started {
		return false, nil
	}
	p, err := strconv.Atoi(rank)
	if err != nil {
		return true, fmt.Errorf("%s: %w", envRank, err)
	}
	tree, err := topology.Parse(os.Getenv(envTree))
	if err != nil {
		return true, fmt.Errorf("%s: %w", envTree, err)
	}
	fabric, err := shm.Open(os.NewFile(fabricFD, "fabric"), shm.Options{Topology: tree})
	if err != nil {
		return true, err
	}
	defer fabric.Close()
	meter, err := model.NewMeter(fabric)
	if err != nil {
		return true, err
	}
	_, err = play(fabric, meter, rma.Rank(p))
	return true, err
}
