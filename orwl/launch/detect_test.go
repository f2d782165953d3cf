package launch

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// detect gives Detect the variables of a text, NAME=VALUE, one a line, and a pod's
// or host's name.
func detect(t *testing.T, variables, host string) (Place, error) {
	t.Helper()
	env := make(map[string]string)
	for line := range strings.Lines(variables) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			env[name] = value
		}
	}
	return Detect(func(name string) string { return env[name] },
		func(name string) ([]byte, error) {
			switch name {
			case "key":
				return []byte("  " + testKey + "\n"), nil
			case "short":
				return []byte("0123456789abcde\n"), nil
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		},
		func() (string, error) {
			if host == "" {
				return "", errors.New("this host has no name")
			}
			return host, nil
		})
}

const testKey = "0123456789abcdef0123456789abcdef"

// The variables of srun, for task 2 of a step; Slurm 23.02.
const inSlurm = `
SLURM_JOB_ID=4711
SLURM_JOBID=4711
SLURM_JOB_NODELIST=node[01-04],gpu1
SLURM_NODELIST=node[01-04],gpu1
SLURM_JOB_NUM_NODES=5
SLURM_STEP_ID=0
SLURM_STEPID=0
SLURM_STEP_NODELIST=node[02-04]
SLURM_STEP_NUM_NODES=3
SLURM_STEP_NUM_TASKS=6
SLURM_STEP_TASKS_PER_NODE=2(x3)
SLURM_TASKS_PER_NODE=2(x3)
SLURM_NTASKS=6
SLURM_NPROCS=6
SLURM_PROCID=2
SLURM_LOCALID=0
SLURM_NODEID=1
SLURM_LAUNCH_NODE_IPADDR=10.0.0.1
`

// A batch script's, which is one process.
const inBatch = `
SLURM_JOB_ID=4711
SLURM_JOBID=4711
SLURM_JOB_NODELIST=node[02-04]
SLURM_NTASKS=6
SLURM_NPROCS=6
SLURM_TASKS_PER_NODE=2(x3)
SLURM_PROCID=0
SLURM_LOCALID=0
SLURM_NODEID=0
SLURM_GTIDS=0
SLURM_TASK_PID=1234
`

// inOpenMPI has the variables that Open MPI 4.1.4 sets for the second of two ranks on one host.
const inOpenMPI = `
OMPI_COMM_WORLD_LOCAL_RANK=1
OMPI_COMM_WORLD_LOCAL_SIZE=2
OMPI_COMM_WORLD_NODE_RANK=1
OMPI_COMM_WORLD_RANK=1
OMPI_COMM_WORLD_SIZE=2
OMPI_MCA_ess_base_jobid=352059393
OMPI_MCA_ess_base_vpid=1
OMPI_UNIVERSE_SIZE=2
PMIX_ID=352059393.1
PMIX_NAMESPACE=352059393
PMIX_RANK=1
PMIX_VERSION=4.2.2rc2
`

// The variables of MPICH's mpiexec for rank 1 of 4, all on one host.
const inHydra = `
PMI_RANK=1
PMI_FD=6
PMI_SIZE=4
MPI_LOCALNRANKS=4
MPI_LOCALRANKID=1
`

const inJob = `
JOB_COMPLETION_INDEX=2
KUBERNETES_SERVICE_HOST=10.96.0.1
KUBERNETES_PORT=tcp://10.96.0.1:443
ORWL_NODES=4
ORWL_SERVICE=orwl-nodes
`

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, env, host string
		want            Place
	}{
		{name: "nothing", want: Place{Nodes: 1, How: Alone}},
		{name: "one", env: "ORWL_NODES=1", want: Place{Nodes: 1, How: Alone}},
		{name: "one that listens", env: "ORWL_NODES=1\nORWL_LISTEN=:80", want: Place{Nodes: 1, Listen: "0.0.0.0:80", How: Alone}},
		{name: "one that listens on a host", env: "ORWL_LISTEN=10.0.0.1", want: Place{Nodes: 1, Listen: "10.0.0.1:7717", How: Alone}},
		{name: "one of one", env: "ORWL_NODE=0\nORWL_NODES=1", want: Place{Nodes: 1, How: Environment}},
		{name: "a key", env: "ORWL_KEY= " + testKey + " ", want: Place{Nodes: 1, Key: []byte(testKey), How: Alone}},
		{name: "a key's file", env: "ORWL_KEY_FILE=key", want: Place{Nodes: 1, Key: []byte(testKey), How: Alone}},

		{name: "join", env: "ORWL_JOIN=4\nORWL_KEY_FILE=key", want: Place{Nodes: 4, Unmet: true, Listen: "0.0.0.0:0", Key: []byte(testKey), How: Rendezvous}},
		{name: "join in an allocation", env: inBatch + "ORWL_JOIN=4\nORWL_KEY_FILE=key\nORWL_LISTEN=10.0.0.1:80",
			want: Place{Nodes: 4, Unmet: true, Listen: "10.0.0.1:80", Key: []byte(testKey), How: Rendezvous}},
		{name: "join alone", env: "ORWL_JOIN=1", want: Place{Nodes: 1, How: Alone}},

		{name: "a lease", env: "ORWL_LEASE=5s", want: Place{Nodes: 1, Lease: 5 * time.Second, How: Alone}},

		{name: "root", env: "ORWL_NODE=0\nORWL_NODES=3\nORWL_ROOT=node01:80",
			want: Place{Nodes: 3, Listen: "0.0.0.0:80", How: Environment}},
		{name: "below root", env: "ORWL_NODE=2\nORWL_NODES=3\nORWL_ROOT=node01:80",
			want: Place{Node: 2, Nodes: 3, Root: "node01:80", Listen: "0.0.0.0:0", How: Environment}},
		{name: "root without a port", env: "ORWL_NODE=2\nORWL_NODES=3\nORWL_ROOT=node01\nORWL_PORT=99",
			want: Place{Node: 2, Nodes: 3, Root: "node01:99", Listen: "0.0.0.0:0", How: Environment}},
		{name: "root on loopback", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=localhost:80",
			want: Place{Node: 1, Nodes: 2, Root: "localhost:80", Listen: "127.0.0.1:0", How: Environment}},
		{name: "root on loopback, IPv6", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=::1",
			want: Place{Node: 1, Nodes: 2, Root: "[::1]:7717", Listen: "[::1]:0", How: Environment}},
		{name: "root by IPv6", env: "ORWL_NODE=0\nORWL_NODES=2\nORWL_ROOT=[fd00::2]:80",
			want: Place{Nodes: 2, Listen: "[::]:80", How: Environment}},
		{name: "root that nobody named", env: "ORWL_NODE=0\nORWL_NODES=2",
			want: Place{Nodes: 2, Listen: "127.0.0.1:7717", How: Environment}},
		{name: "root that nobody named, with a key", env: "ORWL_NODE=0\nORWL_NODES=2\nORWL_KEY=" + testKey,
			want: Place{Nodes: 2, Listen: "0.0.0.0:7717", Key: []byte(testKey), How: Environment}},
		{name: "listen", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=a:1\nORWL_LISTEN=10.0.0.2:5",
			want: Place{Node: 1, Nodes: 2, Root: "a:1", Listen: "10.0.0.2:5", How: Environment}},
		{name: "listen without a port", env: "ORWL_NODE=0\nORWL_NODES=2\nORWL_ROOT=a:1\nORWL_LISTEN=10.0.0.2",
			want: Place{Nodes: 2, Listen: "10.0.0.2:1", How: Environment}},
		{name: "spawned", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=127.0.0.1:1\nORWL_LIFELINE_FD=3",
			want: Place{Node: 1, Nodes: 2, Root: "127.0.0.1:1", Listen: "127.0.0.1:0", How: Spawned}},

		{name: "first of peers", env: "ORWL_NODE=0\nORWL_PEERS=a:1, b:2 ,c",
			want: Place{Nodes: 3, Listen: "0.0.0.0:1", Peers: []string{"a:1", "b:2", "c:7717"}, How: Environment}},
		{name: "of peers", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_PEERS=a:1,127.0.0.5:2",
			want: Place{Node: 1, Nodes: 2, Root: "a:1", Listen: "127.0.0.5:2", Peers: []string{"a:1", "127.0.0.5:2"}, How: Environment}},

		{name: "slurm", env: inSlurm, // 7717 + 16*4711 - 3*20000
			want: Place{Node: 2, Nodes: 6, Root: "node02:23093", Listen: "0.0.0.0:0", How: Slurm}},
		{name: "slurm's first task", env: inSlurm + "SLURM_PROCID=0\nSLURM_STEP_ID=3",
			want: Place{Nodes: 6, Listen: "0.0.0.0:23096", How: Slurm}},
		{name: "slurm with a port", env: inSlurm + "ORWL_PORT=80",
			want: Place{Node: 2, Nodes: 6, Root: "node02:80", Listen: "0.0.0.0:0", How: Slurm}},
		{name: "slurm with a root", env: inSlurm + "ORWL_ROOT=node03",
			want: Place{Node: 2, Nodes: 6, Root: "node03:7717", Listen: "0.0.0.0:0", How: Slurm}},
		{name: "slurm on one host", env: inSlurm + "SLURM_STEP_NODELIST=node07\nORWL_PORT=80",
			want: Place{Node: 2, Nodes: 6, Root: "127.0.0.1:80", Listen: "127.0.0.1:0", How: Slurm}},
		{name: "slurm of old", env: "SLURM_JOBID=1\nSLURM_STEPID=0\nSLURM_JOB_NODELIST=a,b\nSLURM_NTASKS=2\nSLURM_PROCID=1",
			want: Place{Node: 1, Nodes: 2, Root: "a:7733", Listen: "0.0.0.0:0", How: Slurm}},
		{name: "slurm, one task", env: inSlurm + "SLURM_STEP_NUM_TASKS=1\nSLURM_PROCID=0",
			want: Place{Nodes: 1, How: Slurm}},
		{name: "slurm, a task that wants to be alone", env: inSlurm + "ORWL_NODES=1", want: Place{Nodes: 1, How: Alone}},
		{name: "slurm, a batch script", env: inBatch, want: Place{Nodes: 1, How: Alone}},
		{name: "slurm, an interactive step", env: inSlurm + "SLURM_STEP_ID=4294967290\nSLURM_PROCID=0", want: Place{Nodes: 1, How: Alone}},
		{name: "slurm and our own", env: inSlurm + "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=a:1",
			want: Place{Node: 1, Nodes: 2, Root: "a:1", Listen: "0.0.0.0:0", How: Environment}},
		{name: "slurm by PMI2", env: inSlurm + "PMI_RANK=2\nPMI_SIZE=6\nPMI_FD=5\nPMI_JOBID=4711.0",
			want: Place{Node: 2, Nodes: 6, Root: "node02:23093", Listen: "0.0.0.0:0", How: Slurm}},
		{name: "slurm by PMIx", env: inSlurm + "PMIX_RANK=2\nPMIX_NAMESPACE=slurm.pmix.4711.0",
			want: Place{Node: 2, Nodes: 6, Root: "node02:23093", Listen: "0.0.0.0:0", How: Slurm}},

		{name: "mpirun", env: inOpenMPI,
			want: Place{Node: 1, Nodes: 2, Root: "127.0.0.1:8587", Listen: "127.0.0.1:0", How: OpenMPI}},
		{name: "mpirun, rank 0", env: inOpenMPI + "OMPI_COMM_WORLD_RANK=0",
			want: Place{Nodes: 2, Listen: "127.0.0.1:8587", How: OpenMPI}},
		{name: "mpirun, several hosts", env: inOpenMPI + "OMPI_COMM_WORLD_LOCAL_SIZE=1\nORWL_ROOT=first:80",
			want: Place{Node: 1, Nodes: 2, Root: "first:80", Listen: "0.0.0.0:0", How: OpenMPI}},
		{name: "mpirun in a batch script", env: inBatch + inOpenMPI + "ORWL_PORT=80",
			want: Place{Node: 1, Nodes: 2, Root: "127.0.0.1:80", Listen: "127.0.0.1:0", How: OpenMPI}},
		{name: "mpirun by srun's daemons", env: inSlurm + inOpenMPI + "ORWL_PORT=80",
			want: Place{Node: 1, Nodes: 2, Root: "127.0.0.1:80", Listen: "127.0.0.1:0", How: OpenMPI}},
		{name: "mpirun and peers", env: inOpenMPI + "OMPI_COMM_WORLD_LOCAL_SIZE=1\nORWL_PEERS=a:1,b:2",
			want: Place{Node: 1, Nodes: 2, Root: "a:1", Listen: "0.0.0.0:2", Peers: []string{"a:1", "b:2"}, How: OpenMPI}},

		{name: "hydra", env: inHydra, want: Place{Node: 1, Nodes: 4, Root: "127.0.0.1:7717", Listen: "127.0.0.1:0", How: MPICH}},
		{name: "hydra by srun's daemons", env: inSlurm + inHydra + "MPI_LOCALNRANKS=2\nORWL_ROOT=a:1",
			want: Place{Node: 1, Nodes: 4, Root: "a:1", Listen: "0.0.0.0:0", How: MPICH}},
		{name: "pmix", env: "PMIX_RANK=3\nPMIX_NAMESPACE=prterun-a-1@1\nORWL_NODES=4\nORWL_ROOT=a:1",
			want: Place{Node: 3, Nodes: 4, Root: "a:1", Listen: "0.0.0.0:0", How: PMIx}},

		{name: "job", env: inJob, host: "orwl-run-2",
			want: Place{Node: 2, Nodes: 4, Root: "orwl-run-0.orwl-nodes:7717", Listen: "0.0.0.0:7717", How: Kubernetes}},
		{name: "job's first pod", env: inJob + "JOB_COMPLETION_INDEX=0", host: "orwl-run-0.orwl-nodes.default.svc.cluster.local",
			want: Place{Nodes: 4, Listen: "0.0.0.0:7717", How: Kubernetes}},
		{name: "job with a root", env: "JOB_COMPLETION_INDEX=1\nORWL_NODES=2\nORWL_ROOT=a:1", host: "x",
			want: Place{Node: 1, Nodes: 2, Root: "a:1", Listen: "0.0.0.0:0", How: Kubernetes}},
		{name: "job of pods on their own", env: "JOB_COMPLETION_INDEX=2", host: "orwl-run-2", want: Place{Nodes: 1, How: Alone}},
		{name: "stateful set", env: "ORWL_NODES=12\nORWL_SERVICE=nodes\nORWL_PORT=80", host: "web-a-11",
			want: Place{Node: 11, Nodes: 12, Root: "web-a-0.nodes:80", Listen: "0.0.0.0:80", How: Kubernetes}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := detect(t, c.env, c.host)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %#v\nwant %#v", got, c.want)
			}
		})
	}
}

// Incomplete or contradictory variables are one line that names the variable.
func TestDetectMistakes(t *testing.T) {
	for _, c := range []struct{ name, env, host, want string }{
		{name: "no number", env: "ORWL_NODE=one\nORWL_NODES=2", want: `ORWL_NODE is "one": want a number from 0 to 65535`},
		{name: "no lease", env: "ORWL_LEASE=5", want: `ORWL_LEASE is "5": want a time such as 5s, the same for all nodes`},
		{name: "no time at all", env: "ORWL_LEASE=0s", want: `ORWL_LEASE is "0s": want a time`},
		{name: "no nodes", env: "ORWL_NODES=0", want: `ORWL_NODES is "0": want a number from 1 to 65536`},
		{name: "beyond", env: "ORWL_NODE=2\nORWL_NODES=2", want: "ORWL_NODE is 2, and ORWL_NODES is 2: want 0 to 1"},
		{name: "beyond peers", env: "ORWL_NODE=2\nORWL_PEERS=a:1,b:1", want: "ORWL_NODE is 2, and the length of ORWL_PEERS is 2: want 0 to 1"},
		{name: "node alone", env: "ORWL_NODE=0", want: "ORWL_NODE says which node this is, and nothing says of how many: set ORWL_NODES"},
		{name: "nodes alone", env: "ORWL_NODES=2", want: `ORWL_NODE is not set, and ORWL_NODES is "2": set it to`},
		{name: "peers alone", env: "ORWL_PEERS=a:1,b:1", want: `ORWL_NODE is not set, and ORWL_PEERS is "a:1,b:1": set it to`},
		{name: "root alone", env: "ORWL_ROOT=a:1", want: `ORWL_NODE is not set, and ORWL_ROOT is "a:1": set it to`},
		{name: "no root", env: "ORWL_NODE=1\nORWL_NODES=2", want: "ORWL_ROOT is not set: set it to host:port of node 0, or ORWL_PEERS"},
		{name: "root's port", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=a:x", want: `ORWL_ROOT is "a:x": its port is no number from 0 to 65535: want host:port`},
		{name: "root's port 0", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=a:0", want: `ORWL_ROOT is "a:0": no node can connect to port 0: want host:port`},
		{name: "root without a host", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=:1", want: `ORWL_ROOT is ":1": no host: want host:port`},
		{name: "root by URL", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=http://a", want: `ORWL_ROOT is "http://a": its port is no number`},
		{name: "root's odd host", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=a b:1", want: `ORWL_ROOT is "a b:1": that is no name of a host: want host:port`},
		{name: "root's odd IPv6", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=[fd00:x]:1", want: `ORWL_ROOT is "[fd00:x]:1": that is no name of a host: want host:port`},
		{name: "root's odd zone", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=[fe80::1%a b]:1", want: `ORWL_ROOT is "[fe80::1%a b]:1": that is no name of a host`},
		{name: "root's missing port", env: "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=a:", want: `ORWL_ROOT is "a:": no port behind the colon: want host:port`},
		{name: "root and peers", env: "ORWL_NODE=1\nORWL_PEERS=a:1,b:1\nORWL_ROOT=b:1", want: "ORWL_ROOT is b:1, and ORWL_PEERS begins with a:1: make them agree"},
		{name: "nodes and peers", env: "ORWL_NODE=1\nORWL_PEERS=a:1,b:1\nORWL_NODES=3", want: "ORWL_NODES is 3, and ORWL_PEERS has 2 addresses: make them agree"},
		{name: "empty peer", env: "ORWL_NODE=1\nORWL_PEERS=a:1,,b:1", want: `ORWL_PEERS is "": no host: want host:port`},
		{name: "twice the same peer", env: "ORWL_NODE=1\nORWL_PEERS=a:1,b:1,a:1", want: "ORWL_PEERS has a:1 for node 0 and for node 2: give each its own"},
		{name: "listen", env: "ORWL_NODE=0\nORWL_NODES=2\nORWL_LISTEN=a:70000", want: `ORWL_LISTEN is "a:70000": its port is no number`},
		{name: "port", env: "ORWL_NODE=0\nORWL_NODES=2\nORWL_PORT=0", want: `ORWL_PORT is "0": want a number from 1 to 65535`},
		{name: "a Service called orwl", env: inJob + "ORWL_PORT=tcp://10.0.0.11:7717", host: "a-2", want: `ORWL_PORT is "tcp://10.0.0.11:7717", which Kubernetes sets`},

		{name: "join without a key", env: "ORWL_JOIN=4", want: "ORWL_KEY_FILE is not set: the 4 nodes find each other by their key"},
		{name: "join with a number", env: "ORWL_JOIN=4\nORWL_NODE=1\nORWL_KEY=" + testKey, want: `ORWL_NODE is "1", and ORWL_JOIN is 4: unset one of them`},
		{name: "join too many", env: "ORWL_JOIN=4711\nORWL_KEY=" + testKey, want: `ORWL_JOIN is "4711": want a number from 1 to 1024`},

		{name: "two keys", env: "ORWL_KEY=" + testKey + "\nORWL_KEY_FILE=key", want: "ORWL_KEY and ORWL_KEY_FILE are both set: unset one"},
		{name: "short key", env: "ORWL_KEY=0123456789abcde", want: "ORWL_KEY gives a key of 15 bytes: want 16 to 1024"},
		{name: "short key's file", env: "ORWL_KEY_FILE=short", want: "ORWL_KEY_FILE gives a key of 15 bytes: want 16 to 1024"},
		{name: "long key", env: "ORWL_KEY=" + strings.Repeat("k", 1025), want: "ORWL_KEY gives a key of 1025 bytes"},
		{name: "no key's file", env: "ORWL_KEY_FILE=nosuch", want: `ORWL_KEY_FILE is "nosuch", and there is no such file: make it by (umask 077; openssl rand -hex 32 >FILE), and copy it to all machines`},

		{name: "slurm's size", env: inSlurm + "ORWL_NODES=4", want: "SLURM_STEP_NUM_TASKS is 6, and ORWL_NODES is 4: start as many as that, or unset it"},
		{name: "slurm's list", env: inSlurm + "SLURM_STEP_NODELIST=node[1-", want: `SLURM_STEP_NODELIST is "node[1-": a [ without a ]: set ORWL_ROOT`},
		{name: "slurm's odd hosts", env: inSlurm + "SLURM_STEP_NODELIST=a:[1-2]", want: `SLURM_STEP_NODELIST is "a:[1-2]": that is no name of a host: set ORWL_ROOT`},
		{name: "slurm without a list", env: inSlurm + "SLURM_STEP_NODELIST=\nSLURM_JOB_NODELIST=", want: "ORWL_ROOT is not set, nor is SLURM_STEP_NODELIST"},
		{name: "slurm without a size", env: "SLURM_STEP_ID=0\nSLURM_PROCID=0", want: "SLURM_PROCID is set, and SLURM_NTASKS is not"},
		{name: "mpirun on several hosts", env: inOpenMPI + "OMPI_COMM_WORLD_LOCAL_SIZE=1", want: "ORWL_ROOT is not set, and an MPI launcher does not say on which host rank 0 is"},
		{name: "mpirun on several hosts, rank 0", env: inOpenMPI + "OMPI_COMM_WORLD_LOCAL_SIZE=1\nOMPI_COMM_WORLD_RANK=0", want: "ORWL_ROOT is not set, and an MPI launcher"},
		{name: "hydra on several hosts", env: inHydra + "MPI_LOCALNRANKS=2", want: "ORWL_ROOT is not set, and an MPI launcher"},
		{name: "pmix without a size", env: "PMIX_RANK=0\nPMIX_NAMESPACE=a", want: "PMIX_RANK says which node this is, and nothing says of how many: set ORWL_NODES"},
		{name: "pmix without a root", env: "PMIX_RANK=0\nORWL_NODES=4", want: "ORWL_ROOT is not set, and an MPI launcher"},

		{name: "job without a size", env: "JOB_COMPLETION_INDEX=0\nORWL_SERVICE=nodes", host: "a-0", want: "JOB_COMPLETION_INDEX says which node this is, and nothing says of how many"},
		{name: "job without a service", env: "JOB_COMPLETION_INDEX=0\nORWL_NODES=2", host: "a-0", want: "ORWL_ROOT is not set, nor is ORWL_SERVICE"},
		{name: "job on the host's network", env: inJob, host: "worker1", want: `ORWL_SERVICE is set, and this pod is called "worker1": want NAME-0`},
		{name: "job's other pod", env: inJob, host: "a-1", want: `JOB_COMPLETION_INDEX is 2, and this pod is called "a-1": want a name that ends in -2`},
		{name: "job without a name", env: inJob, want: "ORWL_SERVICE is set, and this pod's name is not known"},
		{name: "service by URL", env: inJob + "ORWL_SERVICE=http://nodes", host: "a-2", want: `ORWL_SERVICE is "http://nodes": that is no name of a host`},
		{name: "an odd pod", env: inJob + "ORWL_SERVICE=nodes", host: "[-2", want: `ORWL_SERVICE is "nodes", and this pod is called "[-2": node 0 would be [-0.nodes: that is no name of a host`},
		{name: "stateful set too large", env: "ORWL_NODES=4\nORWL_SERVICE=nodes", host: "web-4", want: "the pod's name web-4 is 4, and ORWL_NODES is 4: want 0 to 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := detect(t, c.env, c.host)
			if !errors.Is(err, ErrEnvironment) || !strings.HasPrefix(err.Error(), "launch: environment: "+c.want) {
				t.Errorf("%v, %v\nwant %s", p, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
			if !reflect.DeepEqual(p, Place{}) {
				t.Errorf("a place all the same: %#v", p)
			}
		})
	}
}

// All nodes of a run agree on where node 0 is, and node 0 listens there.
func TestAllAgree(t *testing.T) {
	for _, c := range []struct{ env, number, size string }{
		{inSlurm, "SLURM_PROCID", "6"},
		{inOpenMPI, "OMPI_COMM_WORLD_RANK", "2"},
		{inHydra, "PMI_RANK", "4"},
	} {
		root, err := detect(t, c.env+c.number+"=0", "")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := strings.Cut(root.Listen, ":")
		for node := 1; node < root.Nodes; node++ {
			p, err := detect(t, c.env+c.number+"="+string(rune('0'+node)), "")
			if err != nil || !strings.HasSuffix(p.Root, ":"+port) || port == "0" {
				t.Errorf("%s: node 0 listens on %s, node %d looks at %q: %v", c.number, root.Listen, node, p.Root, err)
			}
		}
	}
}

// Jobs and steps that may meet on a host have ports of their own, below the system's ephemeral
// ports.
func TestJobPorts(t *testing.T) {
	seen := make(map[string]string)
	for _, job := range []string{"4711", "4712", "4720", "5900"} {
		for _, step := range []string{"0", "1", "15"} {
			p, err := detect(t, inSlurm+"SLURM_JOB_ID="+job+"\nSLURM_STEP_ID="+step, "")
			if err != nil {
				t.Fatal(err)
			}
			if other, taken := seen[p.Root]; taken {
				t.Errorf("step %s of job %s and %s meet at %s", step, job, other, p.Root)
			}
			seen[p.Root] = job + "." + step
		}
	}
	for _, job := range []string{"", "a", "352059393", "prterun-node01-1234@1"} {
		if n := scatter(job); n < 0 || n >= portSpan {
			t.Errorf("scatter(%q) is %d", job, n)
		}
	}
	if most := defaultPort + portSpan; most > 32768 {
		t.Errorf("the last port is %d", most)
	}
}

// A key must not be printed with a place.
func TestPlaceHidesKey(t *testing.T) {
	p := Place{Node: 1, Nodes: 2, Root: "a:1", Listen: "0.0.0.0:0", Key: []byte(testKey), How: Slurm}
	if got, want := p.String(), "node 1 of 2 (slurm), root at a:1, listens on 0.0.0.0:0, has a key"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Whatever the environment says, what comes of it is an error that names a variable,
// or a place in which a node can start.
func FuzzDetect(f *testing.F) {
	for _, env := range []string{inSlurm, inBatch, inOpenMPI, inHydra, inJob, "ORWL_NODE=1\nORWL_PEERS=a:1,[::1]:2", "ORWL_NODE=1\nORWL_NODES=2\nORWL_ROOT=::1", "ORWL_JOIN=4\nORWL_KEY_FILE=key"} {
		f.Add(env, "web-2")
		f.Add(env, "[-2")
	}
	f.Fuzz(func(t *testing.T, env, host string) {
		p, err := detect(t, env, host)
		if err != nil {
			if !errors.Is(err, ErrEnvironment) || !reflect.DeepEqual(p, Place{}) {
				t.Errorf("%v, %v", p, err)
			}
			return
		}
		if p.Node < 0 || p.Node >= p.Nodes || (p.Root != "") != (p.Node > 0) || p.Nodes > 1 && p.Listen == "" {
			t.Fatalf("%#v", p)
		}
		for _, at := range append(p.Peers, p.Root, p.Listen) {
			if host, _, err := net.SplitHostPort(at); at != "" && (err != nil || host == "") {
				t.Errorf("address %q: %v", at, err)
			}
		}
		if p.Peers != nil && len(p.Peers) != p.Nodes {
			t.Errorf("%d peers of %d nodes", len(p.Peers), p.Nodes)
		}
	})
}

// Every variable is described where people look for it.
func TestVariablesAreDescribed(t *testing.T) {
	for _, file := range []string{"doc.go", filepath.Join("..", "..", "docs", "reference", "running.md")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(ownVariables, sameVariables) {
			if !strings.HasSuffix(name, "_FD") && !strings.Contains(string(text), name) {
				t.Errorf("%s does not mention %s", file, name)
			}
		}
		for _, name := range regexp.MustCompile(`ORWL_[A-Z_]+`).FindAllString(string(text), -1) {
			if !slices.Contains(slices.Concat(ownVariables, sameVariables), name) {
				t.Errorf("%s mentions %s, which there is not", file, name)
			}
		}
	}
}
