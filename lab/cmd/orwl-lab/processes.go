package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/orwl/go-orwl/internal/crew"
	"github.com/orwl/go-orwl/lab/meter"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// The environment of a process that orwl-lab model starts: its rank, the tree, which an irregular
// machine has in its text as well, what it takes part in, and where node 0 listens.
const (
	envRank = "ORWL_MODEL_RANK"
	envTree = "ORWL_MODEL_TREE"
	envPart = "ORWL_MODEL_PART"
	envRoot = "ORWL_MODEL_ROOT"
)

// The parts that a process takes.
const (
	partShared = "shm"
	partCrowd  = "crowd"
	partAwaken = "awaken"
	partNode   = "p2p"
)

// fabricFD is the first of exec.Cmd.ExtraFiles in the started process.
const fabricFD = 3

// measureProcesses measures with ranks that are processes, and then how they are scheduled.
func measureProcesses(tree *topology.Tree) (model.Model, error) {
	machine, err := onProcesses(tree, partShared, play)
	if err != nil {
		return machine, err
	}
	machine.Scheduler, err = scheduled(model.Processes, machine.Own.Pause,
		func() (hop, error) { return onProcesses(topology.Flat(crowdRanks()), partCrowd, pinned) },
		func() (float64, error) { return onProcesses(topology.Flat(2), partAwaken, awaken) })
	return machine, err
}

// onProcesses lets each rank be a process: this one is rank 0, the others are this program
// again.
func onProcesses[R any](tree *topology.Tree, name string, part func(rma.Fabric, *meter.Meter, rma.Rank) (R, error)) (result R, err error) {
	fabric, err := shm.Create(shm.Options{Topology: tree})
	if err != nil {
		return result, err
	}
	defer fabric.Close()
	var others crew.Crew
	defer others.Dismiss()
	for p := 1; p < tree.Ranks(); p++ {
		if err := hire(&others, rma.Rank(p), tree, name, "", fabric.File()); err != nil {
			return result, err
		}
	}
	meter, err := meter.New(fabric)
	if err != nil {
		return result, err
	}
	if result, err = part(fabric, meter, 0); err != nil {
		return result, err
	}
	return result, others.Wait()
}

// measureNodes measures with ranks that are nodes and send frames, though they share a machine.
func measureNodes(tree *topology.Tree) (machine model.Model, err error) {
	if tree.Ranks() < 2 {
		if tree, err = tree.WithRanks(2); err != nil {
			return machine, err
		}
	}
	var others crew.Crew
	defer others.Dismiss()
	machine, err = asNode(tree, 0, "", func(address string) error {
		for p := 1; p < tree.Ranks(); p++ {
			if err := hire(&others, rma.Rank(p), tree, partNode, address); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return machine, err
	}
	machine.Agent = true
	return machine, others.Wait()
}

// asNode is a node's part. listening is told where it listens.
func asNode(tree *topology.Tree, p rma.Rank, root string, listening func(address string) error) (machine model.Model, err error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	node, err := p2p.Join(ctx, p2p.Options{Number: int(p), Nodes: tree.Ranks(), Root: root, Remote: true,
		Listening: func(address string) {
			if err := listening(address); err != nil {
				cancel(err)
			}
		}})
	if err != nil {
		return machine, errors.Join(err, context.Cause(ctx))
	}
	defer func() { err = errors.Join(err, node.Close(ctx)) }()
	fabric, err := node.Fabric(ctx, p2p.FabricOptions{Topology: tree, Remote: true})
	if err != nil {
		return machine, err
	}
	defer fabric.Close()
	meter, err := meter.New(fabric)
	if err != nil {
		return machine, err
	}
	if machine, err = play(fabric, meter, p); err != nil {
		return machine, err
	}
	_, err = node.Gather(ctx, "measured", nil) // a node that leaves early ends the fabric of the others
	return machine, err
}

// hire starts the process of rank p.
func hire(others *crew.Crew, p rma.Rank, tree *topology.Tree, part, root string, files ...*os.File) error {
	return others.Hire([]string{envRank + "=" + strconv.Itoa(int(p)), envTree + "=" + tree.String(), envPart + "=" + part, envRoot + "=" + root}, files...)
}

// measuringProcess reports whether this process is one that orwl-lab model started, and if so does
// its part.
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
	part := os.Getenv(envPart)
	if part == partNode {
		_, err := asNode(tree, rma.Rank(p), os.Getenv(envRoot), func(string) error { return nil })
		return true, err
	}
	fabric, err := shm.Open(os.NewFile(fabricFD, "fabric"), shm.Options{Topology: tree})
	if err != nil {
		return true, err
	}
	defer fabric.Close()
	meter, err := meter.New(fabric)
	if err != nil {
		return true, err
	}
	switch part {
	case partCrowd:
		_, err = pinned(fabric, meter, rma.Rank(p))
	case partAwaken:
		_, err = awaken(fabric, meter, rma.Rank(p))
	default:
		_, err = play(fabric, meter, rma.Rank(p))
	}
	return true, err
}
