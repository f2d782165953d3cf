package launch

import (
	"errors"
	"io"
	"os"
	"strconv"
)

// FromEnvironment says what the place of this process is. In a process that Spawn started, the
// first call takes what the process has inherited. From then on, when the process that started
// it is gone, this one gets SIGTERM, as if it had been asked to end. If that does not end it, it is
// killed 5 s later.
func FromEnvironment() (Place, error) {
	p, err := Detect(os.Getenv, readKeyFile, os.Hostname)
	if err != nil || !p.How.BySpawn() {
		return p, err
	}
	if p.Key, err = inheritedKey(); err != nil {
		return Place{}, err
	}
	if os.Getenv(envReport) != "" {
		p.Report, p.GoOn, p.Done = report, reportGoOn, reportDone
	}
	if os.Getenv(envProgress) != "" {
		p.Progress = func(done Progress) error { return reportProgress(p.Node, done) }
	}
	return p, nil
}

// Joining is FromEnvironment as if ORWL_JOIN were the number of nodes: what a program's own
// flag -join calls.
func Joining(nodes int) (Place, error) {
	return Detect(func(name string) string {
		if name == envJoin {
			return strconv.Itoa(nodes)
		}
		return os.Getenv(name)
	}, readKeyFile, os.Hostname)
}

// KeyFromEnvironment is the cluster key alone, of ORWL_KEY or of the file ORWL_KEY_FILE, for a
// process that is not part of a run. It is nil if neither is set.
func KeyFromEnvironment() ([]byte, error) {
	return surroundings{os.Getenv, readKeyFile, os.Hostname}.key()
}

// readKeyFile reads a key's file, which no other user may read.
func readKeyFile(name string) ([]byte, error) {
	content, err := ReadPrivate(name, 2*mostKey)
	if errors.Is(err, errTooLong) {
		err = errors.New("that is too long for a key")
	}
	return content, err
}

var errTooLong = errors.New("the file is too long")

// ReadPrivate reads a file with a secret: a key, or a password. It refuses a file that other users
// may read or change, and one of more than most bytes.
func ReadPrivate(name string, most int) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("it is a folder")
	}
	if err := checkPrivate(info); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(content) > most {
		err = errTooLong
	}
	return content, err
}
