package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// vettedLives is what orwl vet -lives is told.
type vettedLives struct {
	count  int
	ignore string
}

// ofNode is what a launcher says of the node that prints a line. It is another one in another life.
var ofNode = regexp.MustCompile(`^\[[0-9]+[^]]*\] `)

// goesOn is what the log of a run says when a life begins from a cut.
const goesOn = "orwl: the run goes on"

// vet runs a program once as it is, and then with lives that end at random cuts, by a seed each. It must print the same lines.
func (v vettedLives) vet(out io.Writer, program []string) error {
	ignore, err := regexp.Compile(v.ignore)
	if err != nil {
		return err
	}
	want, _, err := v.run(program, ignore, "")
	if err != nil {
		return fmt.Errorf("%s fails without lives that end: %w", program[0], err)
	}
	ended := 0
	for seed := 1; seed <= v.count; seed++ {
		lives := fmt.Sprintf("ORWL_LIVES=%d", seed)
		got, n, err := v.run(program, ignore, lives)
		if err != nil {
			return fmt.Errorf("%s %s: %w", lives, program[0], err)
		}
		if line := different(got, want); line != "" {
			return fmt.Errorf("%s %s prints other lines: %s\nA body may keep state outside of resources, or ask a clock or random numbers. "+
				"If the line is no result, ignore such lines: -ignore", lives, strings.Join(program, " "), line)
		}
		ended += n
	}
	if ended == 0 {
		return errors.New("no life has ended: the program is over too soon, or it cannot survive, as orwl.Run says")
	}
	_, err = fmt.Fprintf(out, "%s: the same lines %d times, over %d ends of lives\n", program[0], v.count, ended)
	return err
}

// run runs a program with a variable, and returns the lines that it prints, sorted, because nodes print at the same time. ended is how
// many lives have ended, as the logs of all nodes say.
func (v vettedLives) run(program []string, ignore *regexp.Regexp, variable string) (lines []string, ended int, err error) {
	var stdout, stderr bytes.Buffer
	c := exec.Command(program[0], program[1:]...)
	c.Env = append(os.Environ(), "ORWL_LIVES=") // an empty variable counts as none
	if variable != "" {
		c.Env = append(c.Env, variable)
	}
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return nil, 0, fmt.Errorf("%w\n%s", err, &stderr)
	}
	for line := range strings.Lines(stdout.String()) {
		line = ofNode.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")
		if v.ignore == "" || !ignore.MatchString(line) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines, strings.Count(stderr.String(), goesOn), nil
}

// different is a line that only one of two sorted lists has, "" if they are the same.
func different(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got) || i < len(want) && want[i] < got[i]:
			return fmt.Sprintf("%q is missing", want[i])
		case i >= len(want) || got[i] < want[i]:
			return fmt.Sprintf("%q is too much", got[i])
		}
	}
	return ""
}
