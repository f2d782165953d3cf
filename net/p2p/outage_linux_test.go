package p2p

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
	"github.com/orwl/go-orwl/internal/rings"
)

var (
	outages = flag.Int("p2p.outages", 4, "trials of TestOutageOfALease: 100 of them take a minute with -parallel 12")
	hasty   = flag.Bool("p2p.hasty", false, "TestOutageOfALease has the standard lease: nothing else may run on this machine")
)

func init() { actors["talker"] = playTalker }

// printed is a log that prints each message.
type printed struct{}

func (p printed) Enabled(context.Context, slog.Level) bool { return true }
func (p printed) WithAttrs([]slog.Attr) slog.Handler       { return p }
func (p printed) WithGroup(string) slog.Handler            { return p }
func (p printed) Handle(_ context.Context, r slog.Record) error {
	_, err := fmt.Println("logs", r.Message)
	return err
}

// playTalker is a node of two. For each line that it reads, it sends a parcel to the other one, and
// it says so when the parcel has come back.
func playTalker() int {
	number, _ := strconv.Atoi(os.Getenv("ORWL_P2P_TEST_NUMBER"))
	o := Options{
		Number: number, Nodes: 2, Key: testKey, Root: os.Getenv("ORWL_P2P_TEST_ROOT"),
		Listen: os.Getenv("ORWL_P2P_TEST_LISTEN"), Remote: true, Log: slog.New(printed{}),
		Listening: func(address string) { fmt.Println("listens", address) },
	}
	if os.Getenv("ORWL_P2P_TEST_LEASE") == "" {
		inTouch(&o)
	}
	n, err := Join(context.Background(), o)
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	other := 1 - number
	n.OnSuspect(func(peer int) { fmt.Println("suspects", peer) })
	n.OnLoss(func(peer int, why error) { fmt.Println("lost", peer, why) })
	const there, back = 1, 2
	for channel, take := range map[uint64]func(int, []byte, []byte) error{
		there: func(from int, header, bulk []byte) error { return n.Send(from, back, header, bulk, false) },
		back:  func(_ int, header, _ []byte) error { fmt.Println("back", string(header)); return nil },
	} {
		if err := n.Receive(channel, Receiver{Take: take}); err != nil {
			fmt.Println("failed", err)
			return 1
		}
	}
	fmt.Println("joined")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := n.Send(other, there, in.Bytes(), nil, false); err != nil {
			fmt.Println("lost", other, err)
		}
	}
	return 0
}

// talkers are two nodes on two hosts. Each has had an answer of the other. They have the standard
// lease, or the lease inTouch.
func talkers(t *testing.T, standard bool) (*netns.Network, [2]*actor) {
	lease := ""
	if standard {
		lease = "standard"
	}
	net := netns.New(t, 2)
	var all [2]*actor
	root := ""
	for i := range all {
		cmd := net.Command(i, os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=talker", fmt.Sprint("ORWL_P2P_TEST_NUMBER=", i),
			"ORWL_P2P_TEST_LISTEN="+net.Address(i)+":0", "ORWL_P2P_TEST_ROOT="+root,
			"ORWL_P2P_TEST_LEASE="+lease)
		all[i] = startActor(t, cmd)
		line := all[i].says(t, "listens")
		if i == 0 {
			root = strings.TrimPrefix(line, "listens ")
		}
	}
	for _, a := range all {
		a.says(t, "joined")
	}
	for _, a := range all {
		fmt.Fprintln(a.in, "before")
		a.says(t, "back before")
	}
	return net, all
}

// TestOutage cuts off two nodes from each other until each has tried to reach the other one, and
// could not. They are in touch again afterwards, and every parcel arrives.
func TestOutage(t *testing.T) {
	t.Parallel()
	net, nodes := talkers(t, false)
	net.Both(0, 1, netns.Quality{Cut: true})
	for _, a := range nodes {
		fmt.Fprintln(a.in, "meanwhile")
	}
	for _, a := range nodes {
		a.says(t, "logs node is not reached")
	}
	net.Both(0, 1, netns.Quality{})
	for _, a := range nodes {
		if line := a.says(t, "back meanwhile", "lost"); line != "back meanwhile" {
			t.Error(line)
		}
	}
}

// TestOutageOfALease cuts off two nodes from each other for a time, up to nearly the lease. They are
// in touch again before lease and skew are over.
func TestOutageOfALease(t *testing.T) {
	rings.Needs(t, rings.Change)
	var o Options
	if inTouch(&o); *hasty {
		o.Lease = standardLease
	}
	const shortest = 400 * time.Millisecond
	longest := o.Lease - 50*time.Millisecond
	for trial := range *outages {
		off := longest
		if *outages > 1 {
			off = shortest + (longest-shortest)*time.Duration(trial)/time.Duration(*outages-1)
		}
		t.Run(fmt.Sprint(trial, "/", off), func(t *testing.T) {
			t.Parallel()
			net, nodes := talkers(t, *hasty)
			// The outage begins at any time between two beats.
			phase := time.NewTimer(time.Duration(trial) * 37 * time.Millisecond % standardSkew)
			<-phase.C
			net.Both(0, 1, netns.Quality{Cut: true})
			over := time.NewTimer(off)
			for _, a := range nodes {
				fmt.Fprintln(a.in, "meanwhile")
			}
			<-over.C
			net.Both(0, 1, netns.Quality{})
			for _, a := range nodes {
				if line := a.says(t, "back meanwhile", "lost"); line != "back meanwhile" {
					t.Error(line)
				}
			}
		})
	}
}
