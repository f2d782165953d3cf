package volume_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

var volumeKills = rings.Size("volume.kills", 3, 30, 300, "TestKilledWriters: processes that are killed")

// envSeed makes the test binary a process that uses a volume: the seed of its operations.
const envSeed = "ORWL_VOLUME_SEED"

// The ranks of TestKilledWriters: the owner, which is the test, and four processes.
const (
	killOwner   = 0
	killWorkers = 4
	killKeys    = 6 // of each rank
)

func TestMain(m *testing.M) {
	if seed := os.Getenv(envSeed); seed != "" {
		if err := useVolume(seed); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killedVolume makes the volume of a process, with two buckets, so that chains are long, and two words at
// each rank: its operations, and whether it stops.
func killedVolume(f rma.Fabric) (v *volume.Volume, words rma.Disp, err error) {
	v, err = volume.New(f, volume.Options{Discipline: "R-RMA-RW", Owner: killOwner, Layout: volume.Layout{
		Buckets: 2, Heap: killWorkers * killKeys, Hash: func(key uint64) uint64 { return key << 63 }}})
	if err == nil {
		words, err = f.Alloc(2)
	}
	return v, words, err
}

func killTopology() *topology.Tree { return topology.Flat(1 + killWorkers) }

// useVolume changes keys that no other rank changes, and looks at them, until it is told to stop.
func useVolume(text string) error {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	f, err := shm.Open(os.NewFile(3, "fabric"), shm.Options{Topology: killTopology(), Survive: true})
	if err != nil {
		return err
	}
	defer f.Close()
	v, words, err := killedVolume(f)
	if err != nil {
		return err
	}
	me := rma.Rank(1 + seed%killWorkers)
	w, err := f.Window(me)
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := v.At(ctx, w)
	if err != nil {
		return err
	}
	rng, own := rand.New(rand.NewPCG(seed, 1)), map[uint64]uint64{}
	for n := uint64(1); w.Get(me, words+1) == 0; n++ {
		if err := useKey(ctx, s, rng.Uint64N(killKeys)*killWorkers+uint64(me)-1, n, rng.IntN(4), own); err != nil {
			return fmt.Errorf("rank %d, operation %d: %w", me, n, err)
		}
		w.FetchOp(me, words, rma.Sum, 1)
	}
	return nil
}

// useKey does one operation on a key of the rank, and compares what it says with what the rank knows.
func useKey(ctx context.Context, s volume.Side, key, n uint64, what int, own map[uint64]uint64) error {
	value, there := own[key]
	switch what {
	case 0:
		found, err := s.Delete(ctx, key)
		delete(own, key)
		if err != nil || found != there {
			return fmt.Errorf("key %d: delete says %t, %v, want %t", key, found, err, there)
		}
	case 1:
		got, found, err := s.Get(ctx, key)
		if err != nil || found != there || got != value {
			return fmt.Errorf("key %d: get says %d, %t, %v, want %d, %t", key, got, found, err, value, there)
		}
	default:
		found, err := s.Set(ctx, key, key<<32|n)
		own[key] = key<<32 | n
		if err != nil || found != there {
			return fmt.Errorf("key %d: set says %t, %v, want %t", key, found, err, there)
		}
	}
	return nil
}

// TestKilledWriters kills processes that change a volume, at any store, three of four. The others see
// nothing of the half, and the volume is whole.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	for killed, trial := 0, uint64(0); killed < volumeKills.N(); killed, trial = killed+killWorkers-1, trial+1 {
		ctx, cancel := context.WithTimeout(t.Context(), rmatest.Patience)
		err := killWriters(ctx, trial)
		cancel()
		if err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
	}
}

func killWriters(ctx context.Context, trial uint64) error {
	f, err := shm.Create(shm.Options{Topology: killTopology(), Survive: true, Context: ctx})
	if err != nil {
		return err
	}
	defer f.Close()
	v, words, err := killedVolume(f)
	if err != nil {
		return err
	}
	w, err := f.Window(killOwner)
	if err != nil {
		return err
	}
	s, err := v.At(ctx, w)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var workers [killWorkers]*exec.Cmd
	var said [killWorkers]io.ReadCloser
	for i := range workers {
		c := exec.CommandContext(ctx, self)
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", envSeed, trial*killWorkers+uint64(i)))
		c.ExtraFiles, c.Stderr = []*os.File{f.File()}, os.Stderr
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if said[i], err = c.StdoutPipe(); err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		workers[i] = c
		defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	}
	more := func(i int, n uint64) error {
		p := rma.Rank(i + 1)
		if _, err := w.Await(ctx, p, words, rma.AtLeast(w.Get(p, words)+n)); err != nil {
			line, _ := bufio.NewReader(said[i]).ReadString('\n')
			return fmt.Errorf("waiting for rank %d: %w; it says %q", p, err, line)
		}
		return nil
	}
	for i := range workers {
		if err := more(i, 1); err != nil {
			return err
		}
	}
	rng := rand.New(rand.NewPCG(trial, 2))
	order := rng.Perm(killWorkers)
	for _, i := range order[1:] {
		if err := more(i, rng.Uint64N(200)); err != nil {
			return err
		}
		if err := workers[i].Process.Kill(); err != nil {
			return err
		}
		_ = workers[i].Wait()
	}
	last := order[0]
	if err := more(last, 100); err != nil {
		return err
	}
	w.Put(rma.Rank(last+1), words+1, 1)
	line, _ := bufio.NewReader(said[last]).ReadString('\n')
	if err := workers[last].Wait(); err != nil {
		return fmt.Errorf("the survivor says %q: %w", line, err)
	}
	return whole(ctx, s)
}

// whole checks each element, then empties the volume, and fills all of it.
func whole(ctx context.Context, s volume.Side) error {
	all, err := s.Snapshot(ctx)
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for _, e := range all {
		if e.Key >= killWorkers*killKeys || e.Value>>32 != e.Key || seen[e.Key] {
			return fmt.Errorf("the volume has %+v: %v", e, all)
		}
		seen[e.Key] = true
	}
	if n, err := s.Len(ctx); n != len(all) || err != nil {
		return fmt.Errorf("the volume has %d elements and counts %d, with %v", len(all), n, err)
	}
	for _, e := range all {
		if found, err := s.Delete(ctx, e.Key); !found || err != nil {
			return fmt.Errorf("deleting key %d: %t, %v", e.Key, found, err)
		}
	}
	for key := range uint64(killWorkers * killKeys) {
		if _, err := s.Set(ctx, key, key); err != nil {
			return fmt.Errorf("filling the volume: %w", err)
		}
	}
	return nil
}
