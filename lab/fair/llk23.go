package fair

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/internal/native"
)

// matrix is a problem of LLK23.
type matrix struct{ rows, cols, down, across, iters int }

func (m matrix) String() string {
	return fmt.Sprintf("LLK23 of %d x %d elements, fast kernel, %d iterations", m.rows, m.cols, m.iters)
}

// args are the arguments of a peer.
func (m matrix) args(kernel string, more ...string) (words []string) {
	for _, n := range []int{m.rows, m.cols, m.down, m.across, m.iters} {
		words = append(words, strconv.Itoa(n))
	}
	return append(append(words, kernel), more...)
}

// whole is the matrix in one block.
func (m matrix) whole() matrix { m.down, m.across = 1, 1; return m }

// flags are the flags of llk23. With 0 sweeps in a pass the grid chooses them.
func (m matrix) flags(kernel string, sweeps, nodes int) []string {
	return []string{
		"-grid", fmt.Sprintf("%dx%d", m.down, m.across), "-block", fmt.Sprintf("%dx%d", m.rows/m.down, m.cols/m.across),
		"-sweeps", strconv.Itoa(sweeps), "-nodes", strconv.Itoa(nodes), "-iters", strconv.Itoa(m.iters),
		"-kernel", kernel, "-verify=false", "-init", "noise", "-json",
	}
}

// llk23 is the program with arguments.
func (s *Shop) llk23(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.LLK23, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(s.Workers))
	return cmd
}

// ours is a contender that runs llk23.
func (s *Shop) ours(name string, m matrix, sweeps, nodes int) Contender {
	args := m.flags("fast", sweeps, nodes)
	return Contender{name, "llk23 " + strings.Join(args, " "), func(ctx context.Context) (float64, error) { return figureOf(s.llk23(ctx, args)) }}
}

// llk23Cases are the cases of LLK23.
func llk23Cases() []Case {
	one, skewed, large := matrix{2000, 2000, 4, 4, 40}, matrix{2000, 2000, 16, 1, 80}, matrix{4000, 4000, 16, 1, 24}
	small := matrix{1024, 1024, 64, 64, 100}
	const unit = "ns for each element and iteration"
	of := func(name, unit string, m matrix, how string, contenders func(s *Shop) []Contender) Case {
		return Case{Name: name, Work: m.String() + how, Unit: unit, Open: func(ctx context.Context, s *Shop) ([]Contender, error) {
			if err := s.sameBits(ctx); err != nil {
				return nil, err
			}
			return contenders(s), nil
		}}
	}
	return []Case{
		of("llk23-one", unit, one, ", one in a pass, peers in 4 x 4 blocks", func(s *Shop) []Contender {
			rows, two := one, one
			rows.down, rows.across, two.down, two.across = 16, 1, 2, 1
			return []Contender{
				s.ours("ours", rows, 1, 1), s.ours("ours, 4 x 4", one, 1, 1), s.peer("OpenMP", "llk23_omp", one.args("fast")...),
				s.peer("MPI", "llk23_mpi", one.args("fast")...), s.peer("bound", "llk23_omp", two.args("bound")...),
			}
		}),
		of("llk23", unit, skewed, ", as many in a pass as is best", func(s *Shop) []Contender {
			return append([]Contender{s.ours("ours", skewed, 0, 1), s.ours("ours, 2 nodes", skewed, 0, 2)}, s.skewed(skewed, "rows4", "split8", "chains4", "chains8")...)
		}),
		of("llk23-4000", unit, large, ", as many in a pass as is best", func(s *Shop) []Contender {
			return append([]Contender{s.ours("ours", large, 0, 1)}, s.skewed(large, "rows1", "split8", "chains8")...)
		}),
		of("llk23-small", unit, small, ", 64 x 64 blocks of 16 x 16", func(s *Shop) []Contender {
			return []Contender{
				s.ours("ours", small, 0, 1), s.ours("ours, one in a pass", small, 1, 1), s.peer("MPI", "llk23_mpi", small.args("fast")...),
				s.peer("OpenMP", "llk23_omp", small.args("fast")...),
			}
		}),
	}
}

// skewed are the forms of the peer that has several iterations in a pass.
func (s *Shop) skewed(m matrix, forms ...string) (all []Contender) {
	for _, form := range forms {
		all = append(all, s.peer("C, "+form, "llk23_skew", m.whole().args(form)...))
	}
	return all
}

// sameBits runs a small problem on llk23 and on all its peers that are installed, built without fusing, and fails if the
// bits of the matrices differ.
func (s *Shop) sameBits(ctx context.Context) error {
	if s.checked {
		return nil
	}
	m := matrix{240, 360, 4, 4, 8}
	said, err := s.llk23(ctx, m.flags("fast", 0, 1)).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", s.LLK23, err)
	}
	var ours struct {
		SHA256 string `json:"sha256"`
	}
	if err := json.Unmarshal(said, &ours); err != nil {
		return fmt.Errorf("%s: %w", s.LLK23, err)
	}
	folder, err := os.MkdirTemp("", "orwl-fair-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	err = s.eachPeer(ctx, m, "fast", filepath.Join(folder, "matrix"), func(form, sum string) error {
		if sum != ours.SHA256 {
			return fmt.Errorf("%s has the bits %s, and llk23 %s", form, sum, ours.SHA256)
		}
		return nil
	})
	s.checked = err == nil
	return err
}

// eachPeer runs a problem on each peer that is installed, and yields the hash of the matrix that it writes to a file.
func (s *Shop) eachPeer(ctx context.Context, m matrix, kernel, file string, yield func(form, sum string) error) error {
	forms := [][]string{append([]string{"llk23_omp"}, m.args(kernel, file)...), append([]string{"llk23_mpi"}, m.args(kernel, file)...)}
	for _, form := range []string{"rows1", "rows4", "split4", "split8", "chains4", "chains8"} {
		if kernel == "fast" {
			forms = append(forms, append([]string{"llk23_skew"}, m.whole().args(form, file)...))
		}
	}
	for _, form := range forms {
		_, err := s.run(ctx, form[0], rounding, form[1:]...)
		if errors.Is(err, native.ErrMissing) {
			continue // the table says so
		}
		if err != nil {
			return err
		}
		bytes, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := yield(strings.Join(form[:7], " "), fmt.Sprintf("%x", sha256.Sum256(bytes))); err != nil {
			return err
		}
	}
	return nil
}
