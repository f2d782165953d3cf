package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Self is what a program calls for its flag -nodes, before it does anything else:
//
//	if ended, code := launch.Self(*nodes); ended {
//		os.Exit(code)
//	}
//
// If this process is not one of several nodes yet, and nodes is more than 1, it runs this
// program once for each node, with the same arguments, by Spawn, until all have ended. Then
// there is nothing left to do but to exit with the code. In each of them it returns at once,
// and so it does where a launcher has started as many; where it has started another number,
// that is an error. An error is a line on standard error, and a code that is not 0.
func Self(nodes int) (ended bool, code int) {
	again, err := again(nodes)
	if err == nil && !again {
		return false, 0
	}
	if err == nil {
		err = respawn(nodes)
	}
	if err == nil {
		return true, 0
	}
	fmt.Fprintln(os.Stderr, err)
	var failed *NodeError
	switch {
	case errors.As(err, &failed):
		return true, failed.ExitCode()
	case errors.Is(err, ErrEnvironment), errors.Is(err, ErrOptions):
		return true, 2
	}
	return true, 1
}

// again reports whether this program has to be run once more, for each node.
func again(nodes int) (bool, error) {
	if nodes < 0 || nodes > mostSpawned {
		return false, fmt.Errorf("%w: %d nodes: want 1 to %d", ErrOptions, nodes, mostSpawned)
	}
	if nodes <= 1 {
		return false, nil
	}
	p, err := Detect(os.Getenv, readKeyFile, os.Hostname)
	if err != nil {
		return false, err
	}
	if p.Nodes > 1 && p.Nodes != nodes {
		return false, fmt.Errorf("%w: %d nodes are asked for, and this is %v: ask for %d, or for none", ErrEnvironment, nodes, p, p.Nodes)
	}
	return p.Nodes == 1, nil
}

// respawn runs this program on each node.
func respawn(nodes int) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("launch: cannot find this program, to start it for each node: %w", err)
	}
	return Spawn(context.Background(), Run{Nodes: nodes, Program: program, Args: os.Args[1:]})
}
