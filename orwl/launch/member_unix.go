//go:build unix

package launch

import (
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// member is a node that has been started.
type member struct {
	node     int
	host     string // "" is this machine
	cmd      *exec.Cmd
	lifeline *os.File // open while this process lives and has not lost interest
	out, err *lines
	report   *os.File // the pipe of its reports; nil over ssh, and if it has nothing to report
	silence  func()   // called when it can report no more, unless nil
	ended    bool
	done     bool       // it has said that the run has ended well
	in       bool       // it takes part in the run; false for a late process that has not come in yet
	before   *NodeError // how its former life has ended, or nil
}

// ending is how a node has ended, as Wait has it.
type ending struct {
	*member
	reason error
}

// member starts a node. It has the report if it reports, or says over ssh what would go there.
func (c *crew) member(s seated) (*member, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close() // the node has its own
	node := s.node
	m := &member{
		node:     node,
		host:     c.run.host(node),
		lifeline: w,
		out:      c.run.lines(&c.mu, c.run.Stdout, node),
		err:      c.run.lines(&c.mu, c.run.Stderr, node),
	}
	if c.run.Plain {
		m.out.prefix = nil
	}
	first := string(hex.AppendEncode(nil, c.run.Key)) + "\n"
	if m.host == "" {
		m.cmd = exec.Command(c.run.Program, c.run.Args...)
		m.cmd.Env = append(withoutOwn(os.Environ()), c.run.environment(s, descriptorsHere)...)
		var said *os.File
		if c.run.reports() {
			if m.report, said, err = os.Pipe(); err != nil {
				w.Close()
				return nil, err
			}
			defer said.Close() // the node has its own
		}
		m.cmd.ExtraFiles = []*os.File{lifelineFD - 3: r, reportFD - 3: said} // a node without a report gets a closed descriptor
		if c.progress != nil {
			m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, c.progress.end)
		}
	} else {
		env := c.run.environment(s, descriptorsSSH)
		for _, name := range sameVariables {
			if value := os.Getenv(name); value != "" {
				env = append(env, name+"="+value)
			}
		}
		first = strings.Join(env, "\n") + "\n\n" + first
		if m.cmd, err = c.run.overSSH(m.host); err == nil {
			m.cmd.Stdin = r
		}
		said := mostReports // how many lines it has said; all, if it reports nothing
		if c.run.reports() {
			said = 0
			m.silence = func() { c.reports <- saying{m, "", true} }
		}
		m.err.reports = func(line string) {
			if strings.HasPrefix(line, progressWord) {
				c.heed(line)
			} else if said < mostReports { // no correct node says more
				said++
				c.reports <- saying{m, line, false}
			}
		}
	}
	if err == nil {
		m.cmd.Stdout, m.cmd.Stderr = m.out, m.err
		m.cmd.WaitDelay = c.run.Grace // for processes that it has started and that have its output
		m.cmd.SysProcAttr = attributes()
		_, err = w.WriteString(first) // the pipe has room for it
	}
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		w.Close()
		if m.report != nil {
			m.report.Close()
		}
		return nil, err
	}
	return m, nil
}

// signal sends s to the node, over ssh by its lifeline, and otherwise also to what it has
// started.
func (m *member) signal(s syscall.Signal) {
	if m.host == "" {
		m.signalGroup(s)
		return
	}
	_, _ = m.lifeline.WriteString(strconv.Itoa(int(s)) + "\n") // it may end meanwhile
}

// signalGroup sends s to the process that has been started, and to what that has started.
func (m *member) signalGroup(s syscall.Signal) {
	if m.cmd.Process.Signal(syscall.Signal(0)) == nil { // it was not waited for: the number is still its own
		syscall.Kill(-m.cmd.Process.Pid, s) // it may end meanwhile
	}
}

// failure is what was wrong with an ending, or nil.
func (e ending) failure() *NodeError {
	failed := &NodeError{Node: e.node, Host: e.host}
	status, ok := e.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch failed.Code = e.cmd.ProcessState.ExitCode(); {
	case ok && status.Signaled():
		failed.Signal = status.Signal()
	case e.host != "" && failed.Code == codeSSH:
		failed.Err = errSSH
	case failed.Code != 0:
	case e.reason != nil && !errors.Is(e.reason, exec.ErrWaitDelay):
		failed.Err = e.reason
	default:
		return nil
	}
	return failed
}
