package launch

import (
	"strconv"
	"strings"
)

// kubernetes reads the name of a pod, if ORWL_SERVICE says that pods are nodes. An Indexed
// Job and a StatefulSet both call their pods NAME-0, NAME-1 and so on, and a headless Service
// turns these names into names of hosts. If the pods of an Indexed Job do not
// need each other, they have no ORWL_SERVICE, and each is alone.
func (s surroundings) kubernetes() (*seat, error) {
	service := s.getenv(envService)
	index, indexed, err := s.number("JOB_COMPLETION_INDEX", 0, mostNodes-1)
	if err != nil || service == "" && (!indexed || s.getenv(envNodes) == "" && s.getenv(envPeers) == "") {
		return nil, err
	}
	found := &seat{how: Kubernetes, node: index, from: "JOB_COMPLETION_INDEX"}
	if service == "" {
		found.rootless = "is not set, nor is " + envService + ": set that to the name of the Job's headless Service"
		return found, nil
	}
	if err := checkHost(service); err != nil {
		return nil, mistake(envService, "is %q: %w: want the name of a headless Service", service, err)
	}
	pod, err := s.hostname()
	if err != nil {
		return nil, mistake(envService, "is set, and this pod's name is not known: %w", err)
	}
	pod, _, _ = strings.Cut(pod, ".")
	name, ordinal, ok := splitOrdinal(pod)
	if !ok {
		return nil, mistake(envService, "is set, and this pod is called %q: want NAME-0, NAME-1, ..., as an Indexed Job or a StatefulSet calls its pods, and no hostNetwork", pod)
	}
	if indexed && ordinal != index {
		return nil, mistake("JOB_COMPLETION_INDEX", "is %d, and this pod is called %q: want a name that ends in -%d", index, pod, index)
	}
	found.node = ordinal
	if !indexed {
		found.from = "the pod's name " + pod
	}
	if found.port, err = s.port(); err != nil {
		return nil, err
	}
	found.root = address{name + "-0." + service, found.port}
	if err := checkHost(found.root.host); err != nil {
		return nil, mistake(envService, "is %q, and this pod is called %q: node 0 would be %s: %w", service, pod, found.root.host, err)
	}
	return found, nil
}

// splitOrdinal takes the name of a pod apart, such as web-12.
func splitOrdinal(pod string) (name string, ordinal int, ok bool) {
	i := strings.LastIndexByte(pod, '-')
	if i <= 0 {
		return "", 0, false
	}
	ordinal, err := strconv.Atoi(pod[i+1:])
	return pod[:i], ordinal, err == nil && strconv.Itoa(ordinal) == pod[i+1:]
}
