//go:build linux

package deploy

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeGo stands for the go command: the programs that it builds say what a program would. They have one
// dependency, with a text for each platform.
const fakeGo = `#!/bin/sh
case $1 in
list) printf '\n\nexample.com/dep v1.2.0 %s\nexample.com/dep v1.2.0 %s\n' "$FAKE_FOLDER/dep" "$FAKE_FOLDER/dep"; exit ;;
env) [ "$2" = GOROOT ] && echo "$FAKE_FOLDER/go" || echo go1.99; exit ;;
esac
while [ "$1" != -o ]; do shift; done
for path in orwl dht llk23; do
	printf '#!/bin/sh\n[ "$1" = version ] && echo %s %s "(commit)" || echo "$@"\n# %s/%s\n' $path "$FAKE_VERSION" "$GOOS" "$GOARCH" >"$2/$path"
	chmod +x "$2/$path"
done
`

// TestRelease runs the script with a go command that compiles nothing. The archives have what they
// should, the sums are theirs, and a second run makes the same bytes.
func TestRelease(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{"deploy", "bin", "dep", "go"} {
		if err := os.Mkdir(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"release", "licences"} {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, 0o755, string(script), root, "deploy", name)
	}
	write(t, 0o755, fakeGo, root, "bin", "go")
	write(t, 0o644, "licence\n", root, "LICENSE")
	write(t, 0o644, "of Go\n", root, "go", "LICENSE")
	write(t, 0o644, "of dep\n", root, "dep", "Licence.md")
	write(t, 0o644, "of dep, too\n", root, "dep", "NOTICE")
	write(t, 0o644, "no licence\n", root, "dep", "license_test.go")
	write(t, 0o644, "# Changes\n\n## v0.3.0, not released yet\n\n## v0.2.10, 2026-12-01\n", root, "CHANGELOG.md")
	shell := func(env, line string) (string, error) {
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"), "RELEASE_PLATFORMS=linux/arm64 darwin/arm64",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "FAKE_FOLDER="+root, env)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := shell("", "git init -q . && git add . && git commit -qm 'release: a commit'"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, row := range []struct{ version, shows, says string }{
		{"v0.2.1", "v0.2.1", "has no section v0.2.1"},
		{"v0.3.0", "v0.3.0", "write its date instead"},
		{"v0.2.10", "v0.2.9", "tag the commit v0.2.10"},
	} {
		out, err := shell("FAKE_VERSION="+row.shows, "deploy/release "+row.version+" dist")
		if err == nil || !strings.Contains(out, row.says) {
			t.Errorf("%s: %v, %q, want %q", row.version, err, out, row.says)
		}
	}
	for _, folder := range []string{"dist", "again"} {
		if out, err := shell("FAKE_VERSION=v0.2.10", "deploy/release v0.2.10 "+folder+" && cd "+folder+" && sha256sum -c SHA256SUMS"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if out, err := shell("", "diff -r dist again"); err != nil {
		t.Errorf("a second run makes other bytes: %v\n%s", err, out)
	}
	for _, platform := range []string{"linux-arm64", "darwin-arm64"} {
		name := "go-orwl-v0.2.10-" + platform
		want := []string{"CHANGELOG.md", "LICENSE", "LICENSES"}
		for _, program := range []string{"dht", "llk23", "orwl"} {
			want = append(want, program, program+".1", program+".bash", program+".fish", program+".zsh")
		}
		files := archived(t, filepath.Join(root, "dist", name+".tar.gz"), name)
		var names []string
		for file := range files {
			names = append(names, file)
		}
		slices.Sort(names)
		if slices.Sort(want); !slices.Equal(names, want) {
			t.Errorf("%s has %q, want %q", name, names, want)
		}
		if !strings.Contains(files["orwl"], strings.ReplaceAll(platform, "-", "/")) || files["dht.1"] != "man\n" || files["llk23.zsh"] != "completion zsh\n" {
			t.Errorf("%s has other contents: %q", name, files)
		}
		const licences = "==== Go go1.99: LICENSE\n\nof Go\n\n==== example.com/dep v1.2.0: Licence.md\n\nof dep\n\n==== example.com/dep v1.2.0: NOTICE\n\nof dep, too\n\n"
		if files["LICENSES"] != licences {
			t.Errorf("%s has the licences %q, want %q", name, files["LICENSES"], licences)
		}
	}
	if out, err := shell("FAKE_VERSION=v0.2.10", "rm dep/[LN]* && deploy/release v0.2.10 none"); err == nil || !strings.Contains(out, "example.com/dep has none in ") {
		t.Errorf("without a licence: %v, %q", err, out)
	}
}

// archived are the files of an archive below a folder, with what is in them.
func archived(t *testing.T, path, folder string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(h.Name, folder+"/")] = string(content)
	}
}
