//go:build linux

package deploy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// serving waits until all nodes of a table serve, and returns where.
func serving(t *testing.T, said *heard, nodes int) map[int]string {
	t.Helper()
	at := make(map[int]string)
	until(t, "all nodes serve", func() bool {
		for text := range strings.Lines(said.String()) {
			var line struct {
				Msg, Address string
				Node         int
			}
			if i := strings.IndexByte(text, '{'); i >= 0 && json.Unmarshal([]byte(text[i:]), &line) == nil && line.Msg == "serving redis clients" {
				at[line.Node] = line.Address
			}
		}
		return len(at) == nodes
	})
	return at
}

// ask gives a password and a command, and returns the line that answers the command.
func ask(t *testing.T, addr, password, command string) string {
	t.Helper()
	return strings.TrimSpace(asked(t, addr, password, command, func(string) bool { return true }))
}

// server is the number of the process that serves at addr.
func server(t *testing.T, addr, password string) int {
	t.Helper()
	const name = "process_id:"
	line := asked(t, addr, password, "INFO server", func(line string) bool { return strings.HasPrefix(line, name) })
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, name)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// asked is the first line of an answer that is wanted.
func asked(t *testing.T, addr, password, command string, wanted func(line string) bool) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "AUTH %s\r\n%s\r\n", password, command)
	lines := bufio.NewReader(c)
	if line, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(line) != "+OK" {
		t.Fatalf("the password is answered with %q, %v", line, err)
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		if wanted(line) {
			return line
		}
	}
}
