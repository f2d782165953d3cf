package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestPorts sends messages through two ports, small and large ones, there and back. Each
// comes once, at the right port.
func TestPorts(t *testing.T) {
	nodes := crew(t, 3)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		const messages = 50
		answers := make(chan string, 2*2*messages)
		var ports [2]*Port
		for number := range ports {
			var err error
			ports[number], err = n.Port(number, PortOptions{Take: func(p *Port, from int, header, bulk []byte) error {
				if string(header) == "answer" {
					answers <- fmt.Sprintf("%d%d %s", number, from, bulk)
					return nil
				}
				return p.Send(from, []byte("answer"), fmt.Appendf(nil, "%s %d", header, len(bulk)))
			}})
			if err != nil {
				t.Error(err)
				return
			}
		}
		want := make(map[string]int)
		for m := range messages {
			bulk := bytes.Repeat([]byte{byte(m)}, m*m*10)
			for number, p := range ports {
				for to := range nodes {
					if to == i {
						continue
					}
					if err := p.Send(to, fmt.Appendf(nil, "message %d", m), bulk); err != nil {
						t.Error(err)
					}
					want[fmt.Sprintf("%d%d message %d %d", number, to, m, len(bulk))]++
				}
			}
		}
		for range 2 * 2 * messages {
			a := <-answers
			if want[a]--; want[a] != 0 {
				t.Errorf("node %d: %q came too often, or was not asked for", i, a)
				return
			}
		}
	})
}

// TestPortMisuse opens ports that there are not.
func TestPortMisuse(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	take := func(*Port, int, []byte, []byte) error { return nil }
	if _, err := nodes[0].Port(7, PortOptions{Take: take}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		number int
		o      PortOptions
		want   string
	}{
		{-1, PortOptions{Take: take}, "want 0 to 63"},
		{Ports, PortOptions{Take: take}, "want 0 to 63"},
		{1, PortOptions{}, "no PortOptions.Take"},
		{7, PortOptions{Take: take}, "port 7"},
	} {
		if _, err := nodes[0].Port(c.number, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("port %d: %v, want %q", c.number, err, c.want)
		}
	}
	alone, err := Join(context.Background(), JoinOptions{Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Port(0, PortOptions{Take: take}); !errors.Is(err, errNode) {
		t.Errorf("a run of one: %v", err)
	}
}

// TestPortLoss has a node leave: the others' ports are told, also one that is opened
// later.
func TestPortLoss(t *testing.T) {
	nodes := crew(t, 2)
	take := func(*Port, int, []byte, []byte) error { return nil }
	lost := make(chan int, 1)
	tell := func(node int, why error) {
		if why == nil {
			t.Error("nobody knows why")
		}
		lost <- node
	}
	if _, err := nodes[0].Port(0, PortOptions{Take: take, Lost: tell}); err != nil {
		t.Fatal(err)
	}
	if err := nodes[1].node.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if node := <-lost; node != 1 {
		t.Errorf("node %d is lost", node)
	}
	if _, err := nodes[0].Port(1, PortOptions{Take: take, Lost: tell}); err != nil {
		t.Fatal(err)
	}
	if node := <-lost; node != 1 {
		t.Errorf("node %d is lost", node)
	}
	if err := nodes[0].node.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
