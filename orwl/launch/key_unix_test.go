//go:build unix

package launch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNewKey(t *testing.T) {
	a, b := NewKey(), NewKey()
	if len(a) != 64 || bytes.Equal(a, b) || strings.Trim(string(a), "0123456789abcdef") != "" {
		t.Errorf("%q, %q", a, b)
	}
}

// Only its owner may read or change a key's file.
func TestKeyFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte(testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(envKeyFile, name)
	for mode, private := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o700: true,
		0o644: false, 0o604: false, 0o602: false, 0o601: false, 0o660: false, 0o666: false,
	} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		p, err := FromEnvironment()
		switch {
		case private && (err != nil || string(p.Key) != testKey):
			t.Errorf("mode %04o: %q, %v", mode, p.Key, err)
		case !private && (!errors.Is(err, ErrEnvironment) || !strings.Contains(err.Error(), "chmod 600")):
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

// A key's file may be a link, as Kubernetes has it, and must not be endless.
func TestOddKeyFiles(t *testing.T) {
	dir := t.TempDir()
	long, link := filepath.Join(dir, "long"), filepath.Join(dir, "link")
	if err := os.WriteFile(long, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(long, link); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		long: "too long", link: "too long", dir: "it is a folder", filepath.Join(dir, "nosuch"): "no such file",
	} {
		t.Setenv(envKeyFile, name)
		if _, err := FromEnvironment(); !errors.Is(err, ErrEnvironment) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
