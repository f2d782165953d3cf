package launch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// manifest is a file in deploy, read as lines KEY: VALUE.
type manifest struct {
	text string
	t    *testing.T
}

func deployed(t *testing.T, name string) manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return manifest{string(text), t}
}

// all are the values of a key, in order.
func (m manifest) all(key string) (values []string) {
	line := regexp.MustCompile(`(?m)^ *(?:- )?` + key + `: "?([^"#\n]*?)"? *(?:#.*)?$`)
	for _, match := range line.FindAllStringSubmatch(m.text, -1) {
		values = append(values, match[1])
	}
	return values
}

// want fails unless the values of a key are these.
func (m manifest) want(key string, values ...string) {
	m.t.Helper()
	if got := m.all(key); !slices.Equal(got, values) {
		m.t.Errorf("%s: %q, want %q", key, got, values)
	}
}

// env is what the file sets for each node.
func (m manifest) env() string {
	var env strings.Builder
	for _, match := range regexp.MustCompile(`- name: (ORWL_\w+)\n +value: "?([^"\n]+)"?\n`).FindAllStringSubmatch(m.text, -1) {
		env.WriteString(match[1] + "=" + match[2] + "\n")
	}
	return env.String()
}

// The pods of the ready files find each other.
func TestKubernetesFiles(t *testing.T) {
	const nodes = 4
	count, port := strconv.Itoa(nodes), strconv.Itoa(defaultPort)
	for file, more := range map[string]struct {
		index string // the variable that numbers pods, besides their names
		check func(m manifest)
	}{
		"kubernetes-job.yaml": {"JOB_COMPLETION_INDEX", func(m manifest) {
			m.want("kind", "Service", "Job")
			m.want("completionMode", "Indexed")
			m.want("completions", count)
			m.want("parallelism", count)
			m.want("subdomain", "orwl-nodes")
			m.want("backoffLimit", "0")
			m.want("restartPolicy", "Never")
			m.want("app", "orwl-run", "orwl-run") // the Service's selector, and the pods
		}},
		"kubernetes-statefulset.yaml": {"", func(m manifest) {
			m.want("kind", "Service", "StatefulSet")
			m.want("replicas", count)
			m.want("serviceName", "orwl-nodes")
			m.want("podManagementPolicy", "Parallel")
			m.want("app", "orwl-run", "orwl-run", "orwl-run") // and the StatefulSet's selector
		}},
	} {
		t.Run(file, func(t *testing.T) {
			m := deployed(t, file)
			more.check(m)
			m.want("clusterIP", "None")
			m.want("publishNotReadyAddresses", "true")
			m.want("enableServiceLinks", "false")
			m.want("port", port)
			m.want("containerPort", port)
			m.want("name", "orwl-nodes", "orwl", "orwl-run", "node", "orwl", envNodes, envService, envKey, "orwl-key")
			if !strings.Contains(m.text, "secretKeyRef:") || !strings.Contains(m.text, "kubectl create secret generic orwl-key --from-literal=key=") {
				t.Error("no way to the key")
			}
			for node := range nodes {
				env := m.env() + "ORWL_KEY=" + testKey + "\n"
				if more.index != "" {
					env += more.index + "=" + strconv.Itoa(node) + "\n"
				}
				p, err := detect(t, env, "orwl-run-"+strconv.Itoa(node))
				if err != nil {
					t.Fatal(err)
				}
				if p.Node != node || p.Nodes != nodes || p.Listen != "0.0.0.0:"+port || node > 0 && p.Root != "orwl-run-0.orwl-nodes:"+port {
					t.Errorf("pod %d: %v", node, p)
				}
			}
		})
	}
}

// Every variable is described where people look for it.
func TestVariablesAreDescribed(t *testing.T) {
	for _, file := range []string{"doc.go", filepath.Join("..", "..", "docs", "running.md")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(slices.Clone(ownVariables), envLease) {
			if !strings.HasSuffix(name, "_FD") && !strings.Contains(string(text), name) {
				t.Errorf("%s does not mention %s", file, name)
			}
		}
		for _, name := range regexp.MustCompile(`ORWL_[A-Z_]+`).FindAllString(string(text), -1) {
			if !slices.Contains(ownVariables, name) && name != envLease {
				t.Errorf("%s mentions %s, which there is not", file, name)
			}
		}
	}
}
