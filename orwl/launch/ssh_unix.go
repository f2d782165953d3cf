//go:build unix

package launch

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// errSSH is a code that ssh ends with for its own reasons, and for a remote signal.
var errSSH = errors.New("ssh ended with code 255: its connection failed, or a signal ended the node: " +
	"try ssh -o BatchMode=yes HOST true, which must ask for nothing")

const codeSSH = 255

// shell has the node's environment come over the input, a variable a line, so that it is in
// no list of processes. Behind an empty line begins the node's lifeline. If the input
// ends before, so does the shell.
const shell = `while IFS= read -r pair; do [ -n "$pair" ] || exec "$@"; export "$pair"; done; exit 1`

// login is the command that runs ssh, ORWL_SSH or ssh.
func login() []string {
	if words := strings.Fields(os.Getenv(envSSH)); len(words) > 0 {
		return words
	}
	return []string{"ssh"}
}

// overSSH is the command that runs a program on a host, in a folder that has the path of the
// current one. ssh notices after 15 s that a host does not answer.
func (r *Run) overSSH(host string) (*exec.Cmd, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	remote := []string{"exec", "sh", "-c", quote("cd " + quote(folder) + " || exit; " + shell), "sh", quote(r.Program)}
	for _, arg := range r.Args {
		remote = append(remote, quote(arg))
	}
	words := append(login(), "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
		host, strings.Join(remote, " "))
	return exec.Command(words[0], words[1:]...), nil
}

// quote makes one word of a text, for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// reached is where other hosts reach one: ssh may know it by another name.
func reached(host string) string {
	words := append(login(), "-G", host)
	out, _ := exec.Command(words[0], words[1:]...).Output() // an ssh that has no -G has no other names, either
	for line := range bytes.Lines(out) {
		if name, is := strings.CutPrefix(strings.TrimSpace(string(line)), "hostname "); is {
			return name
		}
	}
	return hostOf(host)
}
