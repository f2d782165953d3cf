//go:build linux

package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/orwl/go-orwl/orwl/launch"
)

// object is what our manifests say. A field that it does not have is an error.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		// of a Service
		ClusterIP                string         `yaml:"clusterIP"`
		PublishNotReadyAddresses bool           `yaml:"publishNotReadyAddresses"`
		Selector                 map[string]any // of a StatefulSet, too
		Ports                    []port

		// of a Job
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		BackoffLimit             *int `yaml:"backoffLimit"`

		// of a StatefulSet
		ServiceName         string `yaml:"serviceName"`
		PodManagementPolicy string `yaml:"podManagementPolicy"`
		Replicas            int

		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     pod
		}
	}
}

type port struct {
	Name          string
	Port          int
	ContainerPort int `yaml:"containerPort"`
}

// at is how flags say the port.
func (p port) at() string { return ":" + strconv.Itoa(p.ContainerPort) }

type pod struct {
	Subdomain          string
	RestartPolicy      string `yaml:"restartPolicy"`
	EnableServiceLinks *bool  `yaml:"enableServiceLinks"`
	SecurityContext    struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		RunAsUser      int                   `yaml:"runAsUser"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Containers []container
}

type container struct {
	Name, Image     string
	Command         []string
	Ports           []port
	LivenessProbe   probe `yaml:"livenessProbe"`
	ReadinessProbe  probe `yaml:"readinessProbe"`
	Resources       struct{ Requests, Limits map[string]string }
	SecurityContext struct {
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	Env []struct {
		Name, Value string
		ValueFrom   struct {
			SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	}
}

type probe struct {
	HTTPGet       struct{ Path, Port string } `yaml:"httpGet"`
	PeriodSeconds int                         `yaml:"periodSeconds"`
}

const (
	nodes = 4
	key   = "0123456789abcdef0123456789abcdef"
)

// manifest reads a file, and returns its Services and what makes pods.
func manifest(t *testing.T, file string) (services []object, pods object) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	documents.KnownFields(true)
	for {
		var o object
		if err := documents.Decode(&o); errors.Is(err, io.EOF) {
			return services, pods
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if o.Kind == "Service" {
			services = append(services, o)
			continue
		}
		pods = o
	}
}

// TestKubernetesFiles checks that the pods of each file find each other, and that what it says of
// the programs is true.
func TestKubernetesFiles(t *testing.T) {
	for _, file := range []string{"kubernetes-job.yaml", "kubernetes-statefulset.yaml"} {
		t.Run(file, func(t *testing.T) {
			services, pods := manifest(t, file)
			s, template := pods.Spec, pods.Spec.Template
			switch pods.Kind {
			case "Job":
				if s.CompletionMode != "Indexed" || s.Completions != nodes || s.Parallelism != nodes || s.BackoffLimit == nil || *s.BackoffLimit != 0 ||
					template.Spec.Subdomain != services[0].Metadata.Name || template.Spec.RestartPolicy != "Never" {
					t.Errorf("the Job: %+v", s)
				}
			case "StatefulSet":
				if s.Replicas != nodes || s.ServiceName != services[0].Metadata.Name || s.PodManagementPolicy != "Parallel" {
					t.Errorf("the StatefulSet: %+v", s)
				}
			default:
				t.Errorf("kind %q", pods.Kind)
			}
			if head := services[0].Spec; head.ClusterIP != "None" || !head.PublishNotReadyAddresses {
				t.Errorf("the headless Service: %+v", head)
			}
			for _, service := range services {
				if service.Spec.Selector["app"] != template.Metadata.Labels["app"] || template.Metadata.Labels["app"] == "" {
					t.Errorf("Service %s selects %v, and the pods are %v", service.Metadata.Name, service.Spec.Selector, template.Metadata.Labels)
				}
			}
			if len(template.Spec.Containers) != 1 {
				t.Fatal("want one container")
			}
			one := template.Spec.Containers[0]
			agree(t, template.Spec, one)
			open := make(map[int]string)
			for _, p := range one.Ports {
				open[p.ContainerPort] = p.Name
			}
			for _, service := range services {
				for _, p := range service.Spec.Ports {
					if open[p.Port] != p.Name {
						t.Errorf("Service %s has port %s %d, and the container has %v", service.Metadata.Name, p.Name, p.Port, open)
					}
				}
			}
			for node := range nodes {
				place(t, one, pods, node)
			}
		})
	}
}

// agree checks a container against the image: its user, its program, and the ports of its flags.
func agree(t *testing.T, p pod, c container) {
	t.Helper()
	file, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	user := regexp.MustCompile(`(?m)^USER (\d+):`).FindSubmatch(file)
	if user == nil || string(user[1]) != strconv.Itoa(p.SecurityContext.RunAsUser) || string(user[1]) == "0" || !p.SecurityContext.RunAsNonRoot {
		t.Errorf("the pod's user is %d, the image's %q: want the same, and not root", p.SecurityContext.RunAsUser, user)
	}
	if !bytes.Contains(file, []byte("\nFROM scratch\n")) || !c.SecurityContext.ReadOnlyRootFilesystem || p.EnableServiceLinks == nil || *p.EnableServiceLinks {
		t.Error("want an image from scratch, a file system that is only read, and no service links")
	}
	if program := strings.TrimPrefix(c.Command[0], "/"); !bytes.Contains(file, []byte("./apps/"+program)) {
		t.Errorf("the image has no %s", c.Command[0])
	}
	exposed := strings.Fields(string(regexp.MustCompile(`(?m)^EXPOSE (.*)`).FindSubmatch(file)[1]))
	for _, port := range c.Ports {
		number := strconv.Itoa(port.ContainerPort)
		if !slices.Contains(exposed, number) {
			t.Errorf("the image does not expose port %s, %s", port.Name, number)
		}
		if port.Name != "orwl" && !slices.ContainsFunc(c.Command, func(arg string) bool { return strings.HasSuffix(arg, port.at()) }) {
			t.Errorf("no flag of %q has port %s, %s", c.Command, port.Name, number)
		}
	}
	if l, r := c.LivenessProbe.HTTPGet, c.ReadinessProbe.HTTPGet; l.Path != "/healthz" || r.Path != "/readyz" || l.Port != "metrics" || r.Port != "metrics" {
		t.Errorf("probes %+v, %+v", l, r)
	}
	if c.Resources.Requests["cpu"] == "" || c.Resources.Requests["memory"] == "" || c.Resources.Limits["memory"] == "" {
		t.Errorf("resources %v", c.Resources)
	}
}

// place checks what a pod finds in its environment.
func place(t *testing.T, c container, pods object, node int) {
	t.Helper()
	env := make(map[string]string)
	for _, v := range c.Env {
		if env[v.Name] = v.Value; v.ValueFrom.SecretKeyRef.Key != "" {
			env[v.Name] = key
		}
	}
	if pods.Kind == "Job" {
		env["JOB_COMPLETION_INDEX"] = strconv.Itoa(node)
	}
	pod := pods.Metadata.Name + "-" + strconv.Itoa(node)
	p, err := launch.Detect(func(name string) string { return env[name] }, os.ReadFile, func() (string, error) { return pod, nil })
	if err != nil {
		t.Fatal(err)
	}
	if p.Node != node || p.Nodes != nodes || p.Listen != "0.0.0.0:7717" || node > 0 && p.Root != pods.Metadata.Name+"-0.orwl-nodes:7717" ||
		string(p.Key) != key || p.PortOffset() != 0 {
		t.Errorf("pod %s: %v", pod, p)
	}
}
