package fair

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/internal/native"
)

// loss is the case kill. It ends one of two processes by SIGKILL, and measures how long it takes until all rows are swept once more. Ours goes
// on by itself, on the process that is left. The peer has checkpoints: mpirun ends the other rank, and a loop of the shell starts both again.
// In each turn the run goes on to its end, and the final matrix must have the same bits in all turns of all contenders.
//
// Nothing is added to llk23 for this: the page of -metrics tells the life of the run and the round of each task. It is read every 2 ms, so the
// figure may be so much too large. The peer prints a line when it begins, and when its last rank has ended a sweep.
type loss struct {
	matrix
	every       int // sweeps from a checkpoint of the peer to the next
	early, late int // the kill comes behind a random sweep from early to late

	sha256 string // of the first final matrix
	tolls  []*toll
}

// toll is what the kills of a contender have cost besides their seconds.
type toll struct {
	name  string
	lines int     // of program that serve recovery
	again series  // sweeps that were done twice, of each kill, also in turns that were played again
	share float64 // of the time before the last kill, what the checkpoints took; below 0: not known
}

// killCase is two nodes of llk23 beside two ranks.
func killCase() Case {
	l := &loss{matrix: matrix{2000, 2000, 16, 1, 600}, every: 100, early: 300, late: 399}
	return Case{
		Name: "kill", Unit: "seconds from SIGKILL to the end of the next sweep", Turns: 9,
		Work: fmt.Sprintf("%v, one in a pass, on two processes; one of them is killed behind sweep %d to %d", l.matrix, l.early, l.late),
		Open: l.open, Notes: l.notes,
	}
}

// open makes the contenders. mpirun waits for a second until it is sure that ranks have ended, unless it is told not to.
func (l *loss) open(ctx context.Context, s *Shop) ([]Contender, error) {
	if err := s.sameBits(ctx); err != nil {
		return nil, err
	}
	program, err := recoveryLines(killSource)
	if err != nil {
		return nil, err
	}
	args := append(l.flags("fast", 1, 2), "-metrics", "127.0.0.1:0")
	const shell = 1
	form := fmt.Sprintf("lab/fair/c/llk23_kill_mpi.c, a checkpoint every %d sweeps; mpicc -O3 -march=native %s", l.every, rounding)
	return []Contender{
		{"ours", "llk23 " + strings.Join(args, " "), l.turn("ours", 0, func(ctx context.Context, t *toll) (float64, error) {
			return l.ours(ctx, s, args, t)
		})},
		{"MPI, no wait", noWait + " " + form, l.turn("MPI, no wait", program+shell, func(ctx context.Context, t *toll) (float64, error) {
			return l.peer(ctx, s, t, noWait)
		})},
		{"MPI", form, l.turn("MPI", program+shell, func(ctx context.Context, t *toll) (float64, error) {
			return l.peer(ctx, s, t)
		})},
	}, nil
}

// noWait tells mpirun not to wait.
const noWait = "OMPI_MCA_odls_base_sigkill_timeout=0"

// turn is a contender's turn, which notes its toll.
func (l *loss) turn(name string, lines int, kill func(context.Context, *toll) (float64, error)) func(context.Context) (float64, error) {
	t := &toll{name: name, lines: lines, share: -1}
	l.tolls = append(l.tolls, t)
	return func(ctx context.Context) (float64, error) { return kill(ctx, t) }
}

// notes stand below the table.
func (l *loss) notes() (lines []string) {
	for _, t := range l.tolls {
		if len(t.again.figures) == 0 {
			continue
		}
		line := fmt.Sprintf("%s: %d lines of program serve recovery; sweeps done again: %s (%s to %s)", t.name, t.lines, short(t.again.median()),
			short(slices.Min(t.again.figures)), short(slices.Max(t.again.figures)))
		if t.share >= 0 {
			line += fmt.Sprintf("; checkpoints took %.1f %% of the time before the last kill", 100*t.share)
		}
		lines = append(lines, line)
	}
	return lines
}

// when is a random sweep.
func (l *loss) when() int { return l.early + rand.IntN(l.late-l.early+1) }

// same notes the bits of a final matrix, and compares them with those before.
func (l *loss) same(sum string) error {
	if l.sha256 == "" {
		l.sha256 = sum
	}
	if sum != l.sha256 {
		return fmt.Errorf("the final matrix has the bits %s, and in a turn before %s", sum, l.sha256)
	}
	return nil
}

// children are the processes that a process has started, the oldest first.
func children(ctx context.Context, of int) (pids []int, err error) {
	if _, err := exec.LookPath("pgrep"); err != nil {
		return nil, fmt.Errorf("%w: pgrep (Debian: procps)", native.ErrMissing)
	}
	text, err := exec.CommandContext(ctx, "pgrep", "-P", strconv.Itoa(of)).Output()
	if err != nil {
		return nil, fmt.Errorf("children of process %d: %w", of, err)
	}
	for word := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// shoot kills one of two children of a process, and tells when.
func shoot(ctx context.Context, of, which int) (at time.Time, err error) {
	pids, err := children(ctx, of)
	if err != nil {
		return at, err
	}
	if len(pids) != 2 {
		return at, fmt.Errorf("process %d has the children %v, want two", of, pids)
	}
	slices.Sort(pids)
	p, err := os.FindProcess(pids[which])
	if err != nil {
		return at, err
	}
	at = time.Now()
	return at, p.Kill()
}

// page is what this case reads of a node's /debug/orwl.
type page struct {
	Tasks []struct {
		Round int `json:"round"`
	} `json:"tasks"`
	Grids []struct {
		Total int `json:"total"`
	} `json:"grids"`
	Life struct {
		Number int   `json:"number"`
		From   int   `json:"from_round"`
		Seats  []int `json:"seats"`
	} `json:"life"`
}

// swept is the sweep that all tasks of the node have ended, if it has so many blocks; otherwise -1. In a run of several lives it counts those of
// the lives before.
func (p page) swept(blocks, iters int) int {
	if len(p.Grids) != 1 || p.Grids[0].Total != blocks*iters || len(p.Tasks) == 0 {
		return -1
	}
	least := iters
	for _, t := range p.Tasks {
		least = min(least, t.Round)
	}
	return least
}

// readPage reads the page of a node.
func readPage(ctx context.Context, url string) (p page, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/debug/orwl", nil)
	if err != nil {
		return p, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	return p, json.NewDecoder(answer.Body).Decode(&p)
}

// until reads the page of a node again and again until it is as wanted.
func until(ctx context.Context, url string, every time.Duration, want func(page) bool) (p page, err error) {
	for {
		if p, err = readPage(ctx, url); err != nil || want(p) {
			return p, err
		}
		select {
		case <-ctx.Done():
			return p, context.Cause(ctx)
		case <-time.After(every):
		}
	}
}

// Before the kill the page is read so seldom that it costs little.
const seldom, often = 25 * time.Millisecond, 2 * time.Millisecond

// served is how the log of llk23 tells where a node has its page.
var served = regexp.MustCompile(`"msg":"metrics","node":([01]),"url":"(http://[^"]+)/metrics"`)

// ours is a turn of llk23. The nodes take turns to be killed, by chance.
func (l *loss) ours(ctx context.Context, s *Shop, args []string, t *toll) (seconds float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := s.llk23(ctx, args)
	var out bytes.Buffer
	cmd.Stdout = &out
	r, err := start(cmd, cmd.StderrPipe)
	if err != nil {
		return 0, err
	}
	defer func() { err = r.end(err, cancel) }()
	var urls [2]string
	for urls[0] == "" || urls[1] == "" {
		line, err := r.next()
		if err != nil {
			return 0, err
		}
		if found := served.FindStringSubmatch(line.text); found != nil {
			urls[found[1][0]-'0'] = found[2]
		}
	}
	victim := rand.IntN(2)
	url, sweep, half := urls[1-victim], l.when(), l.down*l.across/2
	before, err := until(ctx, url, seldom, func(p page) bool { return p.swept(half, l.iters) >= sweep })
	if err != nil {
		return 0, err
	}
	at, err := shoot(ctx, cmd.Process.Pid, victim)
	if err != nil {
		return 0, err
	}
	after, err := until(ctx, url, often, func(p page) bool {
		return p.Life.Number > 1 && slices.Equal(p.Life.Seats, []int{1 - victim}) && p.swept(2*half, l.iters) > p.Life.From
	})
	if err != nil {
		return 0, err
	}
	seconds = time.Since(at).Seconds()
	t.again.figures = append(t.again.figures, float64(before.swept(half, l.iters)-after.Life.From))
	if err := r.wait(); err != nil {
		return 0, err
	}
	var result struct {
		SHA256 string `json:"sha256"`
	}
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		return 0, err
	}
	return seconds, l.same(result.SHA256)
}

// restart starts a command until it succeeds.
const restart = `until "$@"; do :; done`

// peer is a turn of the peer in C, with variables for mpirun.
func (l *loss) peer(ctx context.Context, s *Shop, t *toll, variables ...string) (seconds float64, err error) {
	program, err := s.build(ctx, "llk23_kill_mpi", rounding)
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "orwl-fair-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	file := filepath.Join(folder, "matrix")
	mpirun := program.Command(ctx, 2, l.args("fast", file, folder, strconv.Itoa(l.every))...)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", restart, "sh"}, mpirun.Args...)...)
	cmd.Env = append(os.Environ(), variables...)
	cmd.Cancel = func() error { // first the shell, which would start mpirun again
		left, err := children(context.WithoutCancel(ctx), cmd.Process.Pid)
		err = errors.Join(err, cmd.Process.Kill())
		for _, pid := range left {
			if p, failure := os.FindProcess(pid); failure == nil {
				err = errors.Join(err, p.Signal(syscall.SIGTERM))
			}
		}
		return err
	}
	r, err := start(cmd, cmd.StdoutPipe)
	if err != nil {
		return 0, err
	}
	defer func() { err = r.end(err, cancel) }()
	first, _, err := r.told("swept")
	if err != nil {
		return 0, err
	}
	swept, saved, sweep := 0, 0.0, l.when()
	for swept < sweep {
		line, err := r.next()
		if err != nil {
			return 0, err
		}
		if _, err := fmt.Sscanf(line.text, "swept %d", &swept); err == nil {
			continue
		}
		var once float64
		if _, err := fmt.Sscanf(line.text, "saved in %g", &once); err == nil {
			saved += once
		}
	}
	t.share = saved / time.Since(first).Seconds()
	launchers, err := children(ctx, cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	if len(launchers) != 1 {
		return 0, fmt.Errorf("the shell has the children %v, want mpirun alone", launchers)
	}
	at, err := shoot(ctx, launchers[0], rand.IntN(2))
	if err != nil {
		return 0, err
	}
	_, from, err := r.told("begins at")
	if err != nil {
		return 0, err
	}
	ended, _, err := r.told("swept")
	if err != nil {
		return 0, err
	}
	t.again.figures = append(t.again.figures, float64(swept-from))
	if err := r.wait(); err != nil {
		return 0, err
	}
	bits, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return ended.Sub(at).Seconds(), l.same(fmt.Sprintf("%x", sha256.Sum256(bits)))
}

// running is a program whose lines are read as they come.
type running struct {
	cmd   *exec.Cmd
	lines chan line
	said  []string // the last lines
	ended bool
}

// line is a line, and when it came.
type line struct {
	at   time.Time
	text string
}

// start starts a program, and reads one of its pipes.
func start(cmd *exec.Cmd, pipe func() (io.ReadCloser, error)) (*running, error) {
	from, err := pipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &running{cmd: cmd, lines: make(chan line, 1<<12)}
	go func() {
		defer close(r.lines)
		for text := bufio.NewScanner(from); text.Scan(); {
			r.lines <- line{time.Now(), text.Text()}
		}
	}()
	return r, nil
}

// next is the next line. Its error says what came before.
func (r *running) next() (line, error) {
	l, more := <-r.lines
	if !more {
		return l, fmt.Errorf("%v has ended too soon: %s", r.cmd, strings.Join(r.said, "\n"))
	}
	const most = 20
	r.said = append(r.said[max(0, len(r.said)+1-most):], l.text)
	return l, nil
}

// told waits for a line that begins so, and returns when it came, and the number behind.
func (r *running) told(begin string) (at time.Time, number int, err error) {
	for {
		l, err := r.next()
		if err != nil {
			return at, 0, err
		}
		if rest, found := strings.CutPrefix(l.text, begin+" "); found {
			number, err := strconv.Atoi(rest)
			return l.at, number, err
		}
	}
}

// wait waits until the program ends by itself.
func (r *running) wait() error {
	r.ended = true
	for range r.lines {
	}
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("%v: %w", r.cmd, err)
	}
	return nil
}

// end ends the program if an error has come before it has ended.
func (r *running) end(err error, cancel func()) error {
	if !r.ended {
		cancel()
		_ = r.wait() // err is why
	}
	return err
}

// killSource is the peer.
const killSource = "c/llk23_kill_mpi.c"

// recoveryLines counts the lines of a peer that serve recovery, without comments and empty lines.
func recoveryLines(file string) (lines int, err error) {
	text, err := sources.ReadFile(file)
	if err != nil {
		return 0, err
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "// Recovery begins.":
			inside = true
		case line == "// Recovery ends.":
			inside = false
		case inside && line != "" && !strings.HasPrefix(line, "//"):
			lines++
		}
	}
	return lines, nil
}
