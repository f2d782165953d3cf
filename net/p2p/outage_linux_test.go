package p2p

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
)

var outages = flag.Int("p2p.outages", 4, "trials of TestOutage: 100 of them take a quarter of a minute with -parallel 12")

func init() { actors["talker"] = playTalker }

// playTalker is a node of two that sends a parcel to the other one for each line that it
// reads, and says so when the parcel has come back.
func playTalker() int {
	number, _ := strconv.Atoi(os.Getenv("ORWL_P2P_TEST_NUMBER"))
	n, err := Join(context.Background(), Options{
		Number: number, Nodes: 2, Key: testKey, Root: os.Getenv("ORWL_P2P_TEST_ROOT"),
		Listen: os.Getenv("ORWL_P2P_TEST_LISTEN"), Remote: true,
		Listening: func(address string) { fmt.Println("listens", address) },
	})
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

// talkers are two nodes on two hosts.
func talkers(t *testing.T) (*netns.Network, [2]*actor) {
	net := netns.New(t, 2)
	var all [2]*actor
	root := ""
	for i := range all {
		cmd := net.Command(i, os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=talker", fmt.Sprint("ORWL_P2P_TEST_NUMBER=", i),
			"ORWL_P2P_TEST_LISTEN="+net.Address(i)+":0", "ORWL_P2P_TEST_ROOT="+root)
		all[i] = startActor(t, cmd)
		line := all[i].says(t, "listens")
		if i == 0 {
			root = strings.TrimPrefix(line, "listens ")
		}
	}
	for _, a := range all {
		a.says(t, "joined")
	}
	return net, all
}

// TestOutage cuts off two nodes from each other for less than the lease. They are in touch
// again afterwards, and every parcel arrives.
func TestOutage(t *testing.T) {
	const shortest, longest = 400 * time.Millisecond, standardLease - 50*time.Millisecond
	for trial := range *outages {
		off := longest
		if *outages > 1 {
			off = shortest + (longest-shortest)*time.Duration(trial)/time.Duration(*outages-1)
		}
		t.Run(fmt.Sprint(trial, "/", off), func(t *testing.T) {
			t.Parallel()
			net, nodes := talkers(t)
			for _, a := range nodes {
				fmt.Fprintln(a.in, "before")
				a.says(t, "back before")
			}
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
			began := time.Now()
			for _, a := range nodes {
				if line := a.says(t, "back meanwhile", "lost"); line != "back meanwhile" {
					t.Error(line)
				}
			}
			t.Log("in touch again after ", time.Since(began).Round(time.Millisecond))
		})
	}
}
