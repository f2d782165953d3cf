package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
)

// dht executes a command line that must end with a code, and returns what it says.
func dht(t *testing.T, code int, line string) (out, complaints string) {
	t.Helper()
	var said, complained bytes.Buffer
	if got := execute(strings.Fields(line), &said, &complained); got != code {
		t.Fatalf("dht %s ends with %d, want %d: %s", line, got, code, complained.String())
	}
	return said.String(), complained.String()
}

func rowsOf(t *testing.T, line string) benchReport {
	t.Helper()
	out, _ := dht(t, command.Done, line+" -json")
	var r benchReport
	d := json.NewDecoder(strings.NewReader(out))
	if err := d.Decode(&r); err != nil || d.More() {
		t.Fatalf("not one JSON object: %v: %s", err, out)
	}
	return r
}

// TestBenchFabrics holds small contests on every fabric. All of them make the same
// draws, so that they insert as much.
func TestBenchFabrics(t *testing.T) {
	turns := map[string]string{"mem": "bench", "shm": "bench -turns 1", "p2p": "bench -turns 1", "sim": "bench"}
	for _, fabric := range benchFabrics {
		t.Run(fabric, func(t *testing.T) {
			r := rowsOf(t, turns[fabric]+" -fabric "+fabric+" -ranks 3 -ops 40 -elements 50 -writes 0,20 -disciplines foMPI-A,foMPI-A-Get,foMPI-RW,RMA-RW")
			if len(r.Rows) != 8 {
				t.Fatalf("%d rows, want 8", len(r.Rows))
			}
			for i, row := range r.Rows {
				inserts := r.Rows[i/4*4].Inserts
				if row.Operations != 80 || row.Seconds <= 0 || row.Refused != 0 || row.Inserts != inserts || (inserts > 0) != (row.Writes > 0) {
					t.Errorf("row %d: %+v", i, row)
				}
			}
		})
	}
}

// TestBenchRepeats predicts the same twice: virtual time has no noise.
func TestBenchRepeats(t *testing.T) {
	const line = "bench -fabric sim -topology rack:2,node:2,core:4 -ops 20 -writes 5"
	first, _ := dht(t, command.Done, line)
	if again, _ := dht(t, command.Done, line); first != again {
		t.Errorf("two predictions differ:\n%s\n%s", first, again)
	}
	if !strings.Contains(first, "piz-daint") {
		t.Errorf("the machine is not named:\n%s", first)
	}
}

// TestBenchFull inserts into a volume without room: every insert is refused and
// counted, and all elements are found.
func TestBenchFull(t *testing.T) {
	for _, row := range rowsOf(t, "bench -ranks 3 -ops 50 -elements 4 -buckets 1 -heap 3 -writes 50 -disciplines foMPI-A,RMA-RW").Rows {
		if row.Inserts != 0 || row.Refused == 0 {
			t.Errorf("%+v", row)
		}
	}
}

func TestBenchCSV(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bench.csv")
	dht(t, command.Done, "bench -ranks 2,3 -ops 10 -writes 0,50 -disciplines RMA-RW -csv "+name)
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) != 1+4 || lines[4][1] != "3" || lines[4][4] != "RMA-RW" {
		t.Errorf("%v, %v", lines, err)
	}
	_, complaint := dht(t, command.Failed, "bench -ranks 2 -ops 1 -writes 0 -csv "+filepath.Join(name, "no", "folder"))
	if strings.Count(complaint, "\n") != 1 || !strings.Contains(complaint, "-csv") {
		t.Errorf("complaint: %s", complaint)
	}
}

// TestBenchFlags gives wrong flags: one clear line names each, and how to go on.
func TestBenchFlags(t *testing.T) {
	for line, names := range map[string]string{
		"-fabric mpi":                 "mem, shm, p2p, sim",
		"-ranks 1":                    "2 to 4096",
		"-ranks 2,x":                  `"x"`,
		"-ranks 17 -fabric sim":       "-topology",
		"-topology core":              "-topology:", // which shows where
		"-writes 101":                 "0 to 100",
		"-writes NaN":                 "0 to 100",
		"-writes 5,":                  `""`,
		"-disciplines MCS":            "RMA-RW",
		"-ops 0":                      "-ops is 0",
		"-elements 0":                 "-elements is 0",
		"-buckets -1":                 "-buckets is -1",
		"-heap 1 -buckets 2":          "-heap is 1, want at least 4094",
		"-fabric p2p -nodes 1":        "-nodes is 1",
		"-fabric sim -machine cray-2": "coolmuc-2",
		"-tdc -1":                     "-tdc is -1",
		"-tr 1048577":                 "-tr",
		"-machine piz-daint":          "-fabric sim",
		"-nodes 3":                    "-fabric p2p",
		"-turns 2 -fabric sim":        "-turns",
		"-turns 0":                    "-turns is 0",
		"-ranks 2 -topology core:2":   "-ranks",
		"-tl 3 -disciplines foMPI-A":  "-tl",
		"-nonsense":                   "-nonsense",
		"more":                        `"more"`,
		"-topology core:4 -tl 1000":   "",
	} {
		if names == "" {
			dht(t, command.Done, "bench -ops 1 "+line)
			continue
		}
		_, complaint := dht(t, command.Misused, "bench "+line)
		if !strings.Contains(complaint, names) || !strings.Contains(complaint, "-h shows") || strings.Count(complaint, "\n") != 2 && names != "-topology:" {
			t.Errorf("%s: %s", line, complaint)
		}
	}
	if out, _ := dht(t, command.Done, "bench -h"); !strings.Contains(out, "-writes PERCENT") {
		t.Errorf("the help is\n%s", out)
	}
}
