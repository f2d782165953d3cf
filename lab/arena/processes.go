package arena

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// job is what a process has to do: one rank of a case.
type job struct {
	Case    lab.Case
	Rank    rma.Rank
	Address string // of node 0, for the other nodes
}

// report is a line that a process says.
type report struct {
	Address string           `json:"address,omitempty"` // where node 0 listens
	Sample  *lab.Sample      `json:"sample,omitempty"`
	Look    *lab.StalledRank `json:"look,omitempty"` // an answer to lookOrder
	Err     string           `json:"err,omitempty"`
	// Broken is set beside Err if the lock let two ranks in.
	Broken *lab.ExclusionError `json:"broken,omitempty"`
}

// lookOrder is a line that asks a process what its rank does.
const lookOrder = "look\n"

// playProcesses plays a case with a process for each rank. On shm the
// processes share the fabric of the case. On p2p they share only the witness.
func playProcesses(ctx context.Context, c lab.Case, o Options) ([]lab.Sample, error) {
	tree, err := topology.Parse(c.Machine)
	if err != nil {
		return nil, err
	}
	words, err := wordsOf(c)
	if err != nil {
		return nil, err
	}
	fabric, err := shm.Create(shm.Options{Topology: tree, Words: words})
	if err != nil {
		return nil, err
	}
	defer fabric.Close()
	l := newCollector(c, o)
	crew := make(crew, tree.Ranks())
	defer crew.dismiss()
	address := ""
	for p := range crew {
		if crew[p], err = hire(fabric.File(), job{c, rma.Rank(p), address}); err != nil {
			return nil, err
		}
		if p == 0 && c.Window == P2P {
			if address, err = crew[0].address(); err != nil {
				return nil, err
			}
		}
	}
	for _, h := range crew {
		go h.listen(l.said)
	}
	return l.collect(ctx, len(crew), crew.kill, crew.look)
}

// wordsOf is how many words the shared memory of a case has, for each rank.
func wordsOf(c lab.Case) (int, error) {
	contender := lab.Contender{}
	if c.Lock != "" {
		var err error
		if contender, err = contenderOf(c); err != nil {
			return 0, err
		}
	}
	_, words, witness, err := sizes(c, contender)
	return words + witness, err
}

// crew are the processes of a case, by rank.
type crew []*hand

// hand is a process.
type hand struct {
	rank  rma.Rank
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *json.Decoder
	looks chan lab.StalledRank
}

// hire starts a process and gives it a job.
func hire(fabric *os.File, j job) (*hand, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &hand{rank: j.Rank, cmd: exec.Command(self), looks: make(chan lab.StalledRank, 1)}
	h.cmd.Env = append(os.Environ(), envChild+"=1")
	h.cmd.ExtraFiles = []*os.File{fabric}
	h.cmd.Stderr = os.Stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.out = json.NewDecoder(bufio.NewReader(out))
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, fmt.Errorf("arena: starting the process of rank %d: %w", j.Rank, err)
	}
	return h, json.NewEncoder(h.in).Encode(j)
}

// address waits for the process to say where it listens.
func (h *hand) address() (string, error) {
	var r report
	if err := h.out.Decode(&r); err != nil {
		return "", fmt.Errorf("arena: the process of rank %d ended early: %w", h.rank, err)
	}
	if r.Err != "" {
		return "", errors.New(r.Err)
	}
	return r.Address, nil
}

// listen tells what the process says until it ends.
func (h *hand) listen(to chan<- said) {
	for {
		var r report
		if err := h.out.Decode(&r); err != nil {
			end := said{ended: true}
			if !errors.Is(err, io.EOF) {
				end.err = fmt.Errorf("arena: the process of rank %d: %w", h.rank, err)
			}
			to <- end
			close(h.looks)
			return
		}
		switch {
		case r.Broken != nil:
			to <- said{err: r.Broken}
		case r.Err != "":
			to <- said{err: fmt.Errorf("arena: the process of rank %d: %s", h.rank, r.Err)}
		case r.Look != nil:
			h.looks <- *r.Look
		case r.Sample != nil:
			to <- said{sample: *r.Sample}
		}
	}
}

// look asks all processes what their ranks do.
func (c crew) look() (ranks []lab.StalledRank) {
	for _, h := range c {
		look := lab.StalledRank{Rank: h.rank, Doing: "has ended"}
		if _, err := io.WriteString(h.in, lookOrder); err == nil {
			if said, ok := <-h.looks; ok {
				look = said
			}
		}
		ranks = append(ranks, look)
	}
	return ranks
}

// kill ends all processes at once. Their output ends, and so does listen.
func (c crew) kill() {
	for _, h := range c {
		if h != nil {
			_ = h.cmd.Process.Kill() // it may have ended
		}
	}
}

// dismiss ends the processes, and waits for them.
func (c crew) dismiss() {
	c.kill()
	for _, h := range c {
		if h != nil {
			_ = h.in.Close()
			_ = h.cmd.Wait() // it was killed, or has said why it failed
		}
	}
}
