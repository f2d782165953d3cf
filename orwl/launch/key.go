package launch

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
)

// The bounds of a key's length, in bytes.
const (
	leastKey = 16
	mostKey  = 1024
)

// NewKey returns a new cluster key: 32 random bytes, in hexadecimal.
func NewKey() []byte {
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	return hex.AppendEncode(nil, secret[:])
}

// key is the cluster key, or nil: the text in a variable or in a file, without the
// white space around it. No message says anything of a key but its length.
func (s surroundings) key() ([]byte, error) {
	text, file := s.getenv(envKey), s.getenv(envKeyFile)
	variable := envKey
	switch {
	case text == "" && file == "":
		return nil, nil
	case text != "" && file != "":
		return nil, mistake(envKey, "and %s are both set: unset one of them", envKeyFile)
	case file != "":
		content, err := s.readFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, mistake(envKeyFile, "is %q, and there is no such file: make it by (umask 077; openssl rand -hex 32 >FILE), and copy it to all machines", file)
		}
		if err != nil {
			return nil, mistake(envKeyFile, "is %q: %w", file, err)
		}
		text, variable = string(content), envKeyFile
	}
	text = strings.TrimSpace(text)
	if len(text) < leastKey || len(text) > mostKey {
		return nil, mistake(variable, "gives a key of %d bytes: want %d to %d, such as openssl rand -hex 32 prints", len(text), leastKey, mostKey)
	}
	return []byte(text), nil
}
