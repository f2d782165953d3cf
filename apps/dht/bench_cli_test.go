package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
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
	turns := map[string]string{"mem": "bench", "shm": "bench -repeats 1", "p2p": "bench -repeats 1", "sim": "bench"}
	for _, fabric := range benchFabrics {
		t.Run(fabric, func(t *testing.T) {
			r := rowsOf(t, turns[fabric]+" -window "+fabric+" -ranks 3 -ops 40 -elements 50 -fw 0,20 -disciplines foMPI-A,foMPI-A-Get,foMPI-RW,RMA-RW")
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
	const line = "bench -window sim -topology rack:2,node:2,core:4 -ops 20 -fw 5"
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
	for _, row := range rowsOf(t, "bench -ranks 3 -ops 50 -elements 4 -buckets 1 -heap 3 -fw 50 -disciplines foMPI-A,RMA-RW").Rows {
		if row.Inserts != 0 || row.Refused == 0 {
			t.Errorf("%+v", row)
		}
	}
}

func TestBenchCSV(t *testing.T) {
	const line = "bench -ranks 2,3 -ops 10 -fw 0,50 -disciplines RMA-RW -csv"
	out, _ := dht(t, command.Done, line)
	lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(lines) != 1+4 || lines[4][1] != "3" || lines[4][4] != "RMA-RW" {
		t.Errorf("%v, %v", lines, err)
	}
	if _, complaint := dht(t, command.Misused, line+" name"); !strings.Contains(complaint, "dht bench -csv > name") {
		t.Errorf("complaint: %s", complaint)
	}
}

// TestBenchOldNames uses names of flags that others have now. They still work.
func TestBenchOldNames(t *testing.T) {
	r := rowsOf(t, "bench -fabric mem -ranks 2 -ops 10 -writes 50 -turns 1 -disciplines RMA-RW")
	if len(r.Rows) != 1 || r.Rows[0].Writes != 50 {
		t.Errorf("%+v", r)
	}
	if _, complaint := dht(t, command.Misused, "bench -turns 2 -fabric sim"); !strings.Contains(complaint, "-repeats is not for -window sim") {
		t.Errorf("complaint: %s", complaint)
	}
}

// TestBenchFlags gives wrong flags: one clear line names each, and how to go on.
func TestBenchFlags(t *testing.T) {
	for line, names := range map[string]string{
		"-window mpi":                 "mem, shm, p2p, sim",
		"-ranks 1":                    "2 to 4096",
		"-ranks 2,x":                  `"x"`,
		"-ranks 17 -window sim":       "-topology",
		"-topology core":              "-topology:", // which shows where
		"-fw 101":                     "0 to 100",
		"-fw NaN":                     "0 to 100",
		"-fw 5,":                      `""`,
		"-disciplines MCS":            "RMA-RW",
		"-ops 0":                      `-ops is "0", want`,
		"-elements 0":                 `-elements is "0", want`,
		"-buckets -1":                 `-buckets is "-1", want`,
		"-heap 1 -buckets 2":          "-heap is 1, want at least 4094",
		"-window p2p -nodes 1":        `-nodes is "1", want`,
		"-window sim -machine cray-2": "coolmuc-2",
		"-tdc -1":                     `-tdc is "-1", want`,
		"-tl x":                       `-tl has "x"`,
		"-json -csv":                  "exclude each other",
		"-topology core:4 -tl 1,2":    "one for each level",
		"-tr 1048577":                 "-tr",
		"-machine piz-daint":          "-window sim",
		"-nodes 3":                    "-window p2p",
		"-repeats 2 -window sim":      "-repeats",
		"-repeats 0":                  `-repeats is "0", want`,
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
	if out, _ := dht(t, command.Done, "bench -h"); !strings.Contains(out, "-fw P,...") {
		t.Errorf("the help is\n%s", out)
	}
}
