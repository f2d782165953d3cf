package netns

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary echoes datagrams, if it is told where.
const echoVariable = "ORWL_NETNS_TEST_ECHO"

// And it sends datagrams to where its lines say.
const sendVariable = "ORWL_NETNS_TEST_SEND"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(echoVariable) != "":
		os.Exit(echo(os.Getenv(echoVariable)))
	case os.Getenv(sendVariable) != "":
		os.Exit(send(os.Getenv(sendVariable)))
	}
	goleak.VerifyTestMain(m)
}

func echo(address string) int {
	c, err := net.ListenPacket("udp4", address)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("echoes")
	b := make([]byte, 100)
	for {
		n, from, err := c.ReadFrom(b)
		if err != nil {
			return 1
		}
		if _, err := c.WriteTo(b[:n], from); err != nil {
			return 1
		}
	}
}

// send sends a datagram for each line, and says whether an answer comes within the patience
// that the line gives.
func send(address string) int {
	c, err := net.Dial("udp4", address)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("sends")
	lines := bufio.NewScanner(os.Stdin)
	for number := byte(0); lines.Scan(); number++ {
		patience, err := time.ParseDuration(lines.Text())
		if err != nil {
			return 1
		}
		began := time.Now()
		_ = c.SetReadDeadline(began.Add(patience))
		b := []byte{number}
		if _, err = c.Write(b); err == nil {
			for b[0]++; err == nil && b[0] != number; { // an answer to an earlier one is late
				_, err = c.Read(b)
			}
		}
		if err != nil {
			fmt.Println("silence")
			continue
		}
		fmt.Println("answer", time.Since(began).Nanoseconds())
	}
	return 0
}

// program is this test binary, on a host.
type program struct {
	in  io.Writer
	out *bufio.Scanner
}

func start(t *testing.T, n *Network, host int, variable, value string) *program {
	t.Helper()
	cmd := n.Command(host, os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+value)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &program{in, bufio.NewScanner(out)}
}

func (p *program) line(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatal("the program has ended")
	}
	return p.out.Text()
}

// ask has the program send, and returns after how long it was answered; 0 if it was not.
func (p *program) ask(t *testing.T, patience time.Duration) (took time.Duration) {
	t.Helper()
	fmt.Fprintln(p.in, patience)
	line := p.line(t)
	if line == "silence" {
		return 0
	}
	if _, err := fmt.Sscanf(line, "answer %d", &took); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return took
}

// TestNetwork sends datagrams between two hosts, on ways of all kinds.
func TestNetwork(t *testing.T) {
	const short, long = 50 * time.Millisecond, time.Minute
	n := New(t, 3)
	echoes := start(t, n, 1, echoVariable, n.Address(1)+":7777")
	if line := echoes.line(t); line != "echoes" {
		t.Fatal(line)
	}
	other := start(t, n, 2, echoVariable, n.Address(2)+":7777") // the same port on another host
	if line := other.line(t); line != "echoes" {
		t.Fatal(line)
	}
	p := start(t, n, 0, sendVariable, n.Address(1)+":7777")
	if line := p.line(t); line != "sends" {
		t.Fatal(line)
	}
	answered := func(what string, want bool) {
		t.Helper()
		patience := short
		if want {
			patience = long
		}
		if took := p.ask(t, patience); (took > 0) != want {
			t.Errorf("%s: an answer after %v, want one: %t", what, took, want)
		}
	}
	answered("a new network", true)
	for _, way := range [][2]int{{0, 1}, {1, 0}} {
		n.Way(way[0], way[1], Quality{Cut: true})
		answered(fmt.Sprintf("cut from %d to %d", way[0], way[1]), false)
		n.Way(way[0], way[1], Quality{})
		answered("mended", true)
	}
	n.Both(0, 2, Quality{Cut: true})
	answered("another link is cut", true)
	n.All(Quality{Loss: 1})
	answered("all is lost", false)

	n.All(Quality{Delay: short})
	if took := p.ask(t, long); took < 2*short {
		t.Errorf("an answer after %v, want at least %v", took, 2*short)
	}
	n.All(Quality{})
	answered("no delay", true)

	n.All(Quality{Loss: 0.5})
	got := 0
	for range 100 {
		if p.ask(t, short/10) > 0 {
			got++
		}
	}
	if got == 0 || got > 60 { // a quarter is right; the seed decides which
		t.Errorf("%d of 100 answers with half of the packets lost each way", got)
	}
}

// TestOrder sends packets with jitter. They arrive in their order, and none is lost.
func TestOrder(t *testing.T) {
	r, w := io.Pipe()
	way := newWay(w, 1)
	way.set(Quality{Jitter: 2 * time.Millisecond})
	done := make(chan struct{})
	go func() { defer close(done); way.deliver() }()
	const packets = 100
	go func() {
		for i := range byte(packets) {
			way.take([]byte{i})
			if i == packets/2 {
				way.set(Quality{}) // the packets behind it wait for those before
			}
		}
	}()
	got := make([]byte, packets)
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	for i, b := range got {
		if int(b) != i {
			t.Fatalf("packet %d arrives as number %d", b, i)
		}
	}
	way.close()
	<-done
}
