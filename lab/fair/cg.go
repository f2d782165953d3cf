package fair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/orwl/go-orwl/internal/native"
)

// plate is a problem of examples/poisson.
type plate struct{ side, sweeps int }

// args are the arguments of a peer.
func (p plate) args(form string, more ...string) []string {
	return append([]string{strconv.Itoa(p.side), strconv.Itoa(p.sweeps), form}, more...)
}

// flags are the flags of poisson.
func (p plate) flags(more ...string) []string {
	return append([]string{"-side", strconv.Itoa(p.side), "-sweeps", strconv.Itoa(p.sweeps)}, more...)
}

// gradientsCase is conjugate gradients. The peers have three forms: plain, as in the books; late, where x takes its step
// together with p, as in poisson; and exact, which has exact sums, too, and so the bits of poisson.
func gradientsCase() Case {
	p := plate{1024, 300}
	return Case{
		Name: "cg", Unit: "us for each sweep",
		Work: fmt.Sprintf("conjugate gradients on %d cells on a side, %d sweeps", p.side, p.sweeps),
		Open: func(ctx context.Context, s *Shop) ([]Contender, error) {
			if _, err := s.exactPeers(ctx, plate{200, 60}); err != nil {
				return nil, err
			}
			all := []Contender{s.poisson("ours", p), s.poisson("ours, 2 nodes", p, "-nodes", "2")}
			for _, form := range []string{"plain", "late", "exact"} {
				all = append(all, s.peer("OpenMP, "+form, "cg_omp", p.args(form)...), s.peer("MPI, "+form, "cg_mpi", p.args(form)...))
			}
			return all, nil
		},
	}
}

// swept is what poisson prints at its end.
var swept = regexp.MustCompile(`([0-9]+) sweeps, ([0-9.]+) s\b`)

// poisson is a contender that runs examples/poisson.
func (s *Shop) poisson(name string, p plate, more ...string) Contender {
	args := p.flags(more...)
	return Contender{name, fmt.Sprint("poisson ", args), func(ctx context.Context) (float64, error) {
		cmd := exec.CommandContext(ctx, s.Poisson, args...)
		text, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("%v: %w", cmd, err)
		}
		found := swept.FindSubmatch(text)
		if found == nil || string(found[1]) != strconv.Itoa(p.sweeps) {
			return 0, fmt.Errorf("%v: want %d sweeps and their seconds, got %s", cmd, p.sweeps, text)
		}
		seconds, err := strconv.ParseFloat(string(found[2]), 64)
		return seconds * 1e6 / float64(p.sweeps), err
	}}
}

// exactPeers runs a problem on poisson, and on the peers with exact sums that are installed, built without fusing. It counts these, and fails
// if one has other bits.
func (s *Shop) exactPeers(ctx context.Context, p plate) (peers int, err error) {
	folder, err := os.MkdirTemp("", "orwl-fair-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	ours, theirs := filepath.Join(folder, "x.npy"), filepath.Join(folder, "x")
	cmd := exec.CommandContext(ctx, s.Poisson, p.flags("-data", ours)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w: %s", cmd, err, said)
	}
	want, err := os.ReadFile(ours)
	if err != nil {
		return 0, err
	}
	for _, form := range []string{"cg_omp", "cg_mpi"} {
		_, err := s.run(ctx, form, rounding, p.args("exact", theirs)...)
		if errors.Is(err, native.ErrMissing) {
			continue // the table says so
		}
		if err != nil {
			return 0, err
		}
		got, err := os.ReadFile(theirs)
		if err != nil {
			return 0, err
		}
		if peers++; len(got) != 8*p.side*p.side || !bytes.HasSuffix(want, got) { // before the cells stands a header
			return 0, fmt.Errorf("%s with %d workers has other bits than poisson", form, s.Workers)
		}
	}
	return peers, nil
}
