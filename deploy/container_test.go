//go:build linux

package deploy

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/freeport"
)

// TestContainer runs the command of each manifest as the image has it: the program alone in an
// empty root, by another user than root. Its probes answer, and it ends when it is asked to.
func TestContainer(t *testing.T) {
	need(t)
	if os.Getuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("CI runs this test as root, for another root and another user")
		}
		t.Skip("needs root, for another root and another user")
	}
	for file, code := range map[string]int{"kubernetes-job.yaml": 143, "kubernetes-statefulset.yaml": 0} {
		t.Run(file, func(t *testing.T) {
			_, pods := manifest(t, file)
			p := pods.Spec.Template.Spec
			c := p.Containers[0]
			root := t.TempDir()
			if err := os.Chmod(root, 0o755); err != nil {
				t.Fatal(err)
			}
			program, err := os.ReadFile(filepath.Join(programs, c.Command[0]))
			if err != nil {
				t.Fatal(err)
			}
			write(t, 0o755, string(program), root, c.Command[0])
			at := make(map[string]string) // where each port of the manifest is in this test
			args := strings.Join(c.Command[1:], " ")
			for _, port := range c.Ports {
				at[port.Name] = "127.0.0.1:" + freeport.Port(t)
				args = strings.ReplaceAll(args, "0.0.0.0"+port.at(), "0.0.0.0"+strings.TrimPrefix(at[port.Name], "127.0.0.1"))
			}
			user := uint32(p.SecurityContext.RunAsUser)
			said := new(heard)
			cmd := &exec.Cmd{
				Path: c.Command[0], Args: append(c.Command[:1:1], strings.Fields(args)...), Dir: "/", Stdout: said, Stderr: said,
				Env:         []string{"ORWL_NODES=1", "ORWL_KEY=" + key, "DHT_PASSWORD=" + key},
				SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}},
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill() // it has ended, unless the test failed
				if t.Failed() {
					t.Logf("%q says\n%s", cmd.Args, said)
				}
			})
			for _, probe := range []probe{c.LivenessProbe, c.ReadinessProbe} {
				url := "http://" + at[probe.HTTPGet.Port] + probe.HTTPGet.Path
				until(t, url+" answers", func() bool { status, _ := page(url); return status == http.StatusOK })
			}
			if _, text := page("http://" + at["metrics"] + "/metrics"); !strings.Contains(text, "\norwl_") {
				t.Errorf("the metrics are\n%.500s", text)
			}
			if where := at["redis"]; where != "" {
				if got := ask(t, where, key, "SET key value"); got != "+OK" {
					t.Errorf("a client hears %q", got)
				}
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the code says how it ended
			if got := cmd.ProcessState.ExitCode(); got != code {
				t.Errorf("exit code %d, want %d", got, code)
			}
		})
	}
}

// TestImageVersion holds the image's build to the variable that the programs show.
func TestImageVersion(t *testing.T) {
	file, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if _, build, found := strings.Cut(string(file), "\nARG VERSION\n"); !found || !strings.Contains(build, saysVersion+"$VERSION") {
		t.Errorf("the Dockerfile does not build with %s$VERSION", saysVersion)
	}
	need(t)
	for _, program := range []string{"orwl", "dht", "llk23"} {
		if out, err := command(t, filepath.Join(programs, program), "version").Output(); err != nil || !strings.HasPrefix(string(out), program+" v0.0.1, ") {
			t.Errorf("%s version says %q, %v", program, out, err)
		}
	}
}

// page is what a server answers, or nothing.
func page(url string) (status int, text string) {
	r, err := http.Get(url)
	if err != nil {
		return 0, ""
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, ""
	}
	return r.StatusCode, string(b)
}
