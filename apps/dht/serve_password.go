package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
)

// passwordVariable is the environment variable that may hold the password. The password is
// never an argument, because all users see the arguments of a process.
const passwordVariable = "DHT_PASSWORD"

// longestPassword is more than people type, and less than a file that was named by mistake.
const longestPassword = 4096

// password is what clients must give, or nothing.
func (o *serveFlags) password(lookup func(string) (string, bool)) (string, error) {
	if o.passwordFile == "" {
		text, set := lookup(passwordVariable)
		if set && text == "" {
			return "", command.Misusef("%s is set and empty: give it a password, or unset it", passwordVariable)
		}
		return text, nil
	}
	f, err := os.Open(o.passwordFile)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", command.Misusef("-password-file is %q: %w", o.passwordFile, err)
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, longestPassword+1)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", command.Misusef("-password-file is %q: %w", o.passwordFile, err)
	}
	switch line = strings.TrimRight(line, "\r\n"); {
	case line == "":
		return "", command.Misusef("-password-file is %q: its first line is empty, want the password", o.passwordFile)
	case len(line) > longestPassword:
		return "", command.Misusef("-password-file is %q: its first line is longer than %d bytes", o.passwordFile, longestPassword)
	}
	return line, nil
}
