package main

import (
	"errors"
	"os"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/launch"
)

// passwordVariable is the environment variable that may hold the password. The password is
// never an argument, because all users see the arguments of a process.
const passwordVariable = "DHT_PASSWORD"

// longestPassword is more than people type, and less than a file that was named by mistake.
const longestPassword = 4096

// longestFile leaves room for comments behind the password.
const longestFile = 1 << 20

// password is what clients must give, or nothing.
func (o *serveFlags) password(lookup func(string) (string, bool)) (string, error) {
	if o.passwordFile == "" {
		text, set := lookup(passwordVariable)
		if set && text == "" {
			return "", command.Misusef("%s is set and empty: give it a password, or unset it", passwordVariable)
		}
		return text, nil
	}
	content, err := launch.ReadPrivate(o.passwordFile, longestFile)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", command.Misusef("-password-file is %q: %w", o.passwordFile, err)
	}
	line, _, _ := strings.Cut(string(content), "\n")
	switch line = strings.TrimRight(line, "\r"); {
	case line == "":
		return "", command.Misusef("-password-file is %q: its first line is empty, want the password", o.passwordFile)
	case len(line) > longestPassword:
		return "", command.Misusef("-password-file is %q: its first line is longer than %d bytes", o.passwordFile, longestPassword)
	}
	return line, nil
}
