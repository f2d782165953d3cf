package arena

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// envChild is set in the environment of a process that plays a rank.
const envChild = "ORWL_LAB_RANK"

// patience is how long nodes believe in each other. More ranks than processors are slow, and a lost
// rank shows when its process ends.
const patience = 30 * time.Second

// fabricFD is the first of exec.Cmd.ExtraFiles in the started process.
const fabricFD = 3

// Child reports whether this process is one that Play started. If so, it has played its rank
// when Child returns, and the program should end.
func Child() bool {
	if os.Getenv(envChild) == "" {
		return false
	}
	signal.Ignore(os.Interrupt) // the process that started this one decides
	c := &child{out: json.NewEncoder(os.Stdout)}
	if err := c.play(bufio.NewReader(os.Stdin)); err != nil {
		r := report{Err: err.Error()}
		errors.As(err, &r.Broken)
		c.say(r)
	}
	return true
}

// child is a process that plays a rank.
type child struct {
	job
	tree  *topology.Tree
	probe lab.Probe

	mu  sync.Mutex // guards out
	out *json.Encoder
}

func (c *child) say(r report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.out.Encode(r) // if the other end is closed, standard input ends as well
}

// play does the job that comes first, and answers orders meanwhile.
func (c *child) play(in *bufio.Reader) error {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, &c.job); err != nil {
		return err
	}
	if c.tree, err = topology.Parse(c.Case.Machine); err != nil {
		return err
	}
	go c.obey(in)
	memory, err := shm.Open(os.NewFile(fabricFD, "fabric"), shm.Options{Topology: c.tree})
	if err != nil {
		return err
	}
	defer memory.Close()
	witness, err := c.witness(memory)
	if err != nil {
		return err
	}
	if c.Case.Window == P2P {
		return c.playNode(witness)
	}
	return c.playOn(context.Background(), memory, witness)
}

// obey answers orders. It ends the process when the one that started it has ended.
func (c *child) obey(in *bufio.Reader) {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			os.Exit(1)
		}
		if line == lookOrder {
			doing, turns := c.probe.Look()
			c.say(report{Look: &lab.StalledRank{Rank: c.Rank, Doing: doing, Turns: turns}})
		}
	}
}

// witness is the witness in the memory that all processes share.
func (c *child) witness(memory *shm.Fabric) (*lab.Witness, error) {
	n, err := c.Case.WitnessWords()
	if err != nil {
		return nil, err
	}
	disp, err := memory.Alloc(n)
	if err != nil {
		return nil, err
	}
	w, err := memory.Window(c.Rank)
	if err != nil {
		return nil, err
	}
	shared, ok := w.(rma.Shared)
	if !ok {
		return nil, errors.New("arena: a window of package shm shares no memory")
	}
	words, ok := shared.Memory(0, disp, n)
	if !ok {
		return nil, fmt.Errorf("arena: the witness has no memory: %w", w.Err())
	}
	return lab.NewWitness(words), nil
}

// playOn plays the rank on a fabric.
func (c *child) playOn(ctx context.Context, fabric rma.Fabric, witness *lab.Witness) error {
	contender := lab.Contender{}
	if c.Case.Lock != "" {
		var err error
		if contender, err = contenderOf(c.Case); err != nil {
			return err
		}
	}
	program, err := c.Case.Setup(fabric, contender, witness)
	if err != nil {
		return err
	}
	w, err := fabric.Window(c.Rank)
	if err != nil {
		return err
	}
	return playAll(ctx, program, w, machineClock{time.Now()}, &c.probe, func(s lab.Sample) { c.say(report{Sample: &s}) })
}

// playNode plays the rank as a node of a run.
func (c *child) playNode(witness *lab.Witness) (err error) {
	ctx := context.Background()
	node, err := p2p.Join(ctx, p2p.Options{
		Number: int(c.Rank), Nodes: c.tree.Ranks(), Root: c.Address, Remote: true,
		Lease: patience, JoinTimeout: patience,
		Listening: func(address string) {
			if c.Rank == 0 {
				c.say(report{Address: address})
			}
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close(ctx)) }()
	words, err := wordsOf(c.Case)
	if err != nil {
		return err
	}
	fabric, err := node.Fabric(ctx, p2p.FabricOptions{Topology: c.tree, Words: words, Remote: true})
	if err != nil {
		return err
	}
	defer fabric.Close()
	if err := c.playOn(ctx, fabric, witness); err != nil {
		return err
	}
	_, err = node.Gather(ctx, "played", nil) // a node that leaves early ends the fabric of the others
	return err
}
