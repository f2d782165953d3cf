package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// book notes which runs have been made: a line for each process, so that nothing is lost when the
// command is stopped.
//
//	busy<TAB>orwl<TAB>TestPartition<TAB>5<TAB>ok<TAB>4.1s
type book struct {
	file  *os.File
	lines map[string]*tally
	spent time.Duration
}

// tally is how often a cell has run, and how many of its processes have failed.
type tally struct {
	runs, failed int
	took         time.Duration
}

func openBook(name string) (*book, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	b := &book{file: file, lines: make(map[string]*tally)}
	for in := bufio.NewScanner(file); in.Scan(); {
		f := strings.Split(in.Text(), "\t")
		if len(f) != 4 {
			continue // the end of a line is missing
		}
		var n int
		took, err := time.ParseDuration(f[3])
		if _, bad := fmt.Sscan(f[1], &n); bad != nil || err != nil {
			continue
		}
		b.count(f[0], n, f[2] != "ok", took)
	}
	return b, nil
}

func (b *book) close() { b.file.Close() }

func (b *book) count(cell string, n int, failed bool, took time.Duration) {
	t := b.lines[cell]
	if t == nil {
		t = &tally{}
		b.lines[cell] = t
	}
	t.runs += n
	t.took += took
	b.spent += took
	if failed {
		t.failed++
	}
}

// runs is how often a cell has run.
func (b *book) runs(c cell) int {
	if t := b.lines[c.String()]; t != nil {
		return t.runs
	}
	return 0
}

func (b *book) hours() float64 { return b.spent.Hours() }

// note notes n runs, and keeps what a failure said.
func (b *book) note(c cell, n int, r result, folder string) error {
	how := "ok"
	if r.failed {
		how = "FAILED"
		log := fmt.Sprintf("%s-%d.log", strings.NewReplacer(" ", "-", "/", "_").Replace(c.String()), b.runs(c))
		if err := os.WriteFile(filepath.Join(folder, log), r.said, 0o644); err != nil {
			return err
		}
		fmt.Println(c, "has failed:", filepath.Join(folder, log))
	}
	b.count(c.String(), n, r.failed, r.took)
	_, err := fmt.Fprintf(b.file, "%s\t%d\t%s\t%s\n", c, n, how, r.took.Round(time.Millisecond))
	return err
}

// table prints a row for each test, and counts the failures.
func (b *book) table(w io.Writer, chosen []cell) (failed int) {
	fmt.Fprintln(w, "| package | test | busy | quota | pauses |\n|---|---|---|---|---|")
	rows := make(map[[2]string]map[string]string)
	var order [][2]string
	for _, c := range chosen {
		key := [2]string{c.pkg, c.test}
		if rows[key] == nil {
			rows[key] = make(map[string]string)
			order = append(order, key)
		}
		t := b.lines[c.String()]
		if t == nil {
			t = &tally{}
		}
		failed += t.failed
		rows[key][c.way.String()] = fmt.Sprintf("%d of %d", t.failed, t.runs)
	}
	for _, key := range order {
		test := key[1]
		if test == "" {
			test = "all"
		}
		fmt.Fprintf(w, "| %s | %s |", key[0], test)
		for _, way := range ways {
			fmt.Fprintf(w, " %s |", rows[key][way.String()])
		}
		fmt.Fprintln(w)
	}
	return failed
}
