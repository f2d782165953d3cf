// Package dashboards is what a run looks like in Grafana, and what Prometheus has to
// be told about it.
//
// The dashboards are the JSON files that Grafana reads: overview.json, locks.json,
// network.json, llk23.json, dht.json and sessions.json. Each can be imported by hand or provisioned (see
// grafana.yml); which Prometheus they ask, and which job and which nodes they show, is
// chosen in them. They draw from metrics alone and need no recording rule. To change one,
// edit its file: the tests say what is wrong with it.
//
// rules.yml has the recording and alert rules, rules_test.yml what they are to say in
// made-up weather, and prometheus.yml a Prometheus that watches a run on this machine.
// docs/reference/observe.md says how these are used, and what to do when an alert fires.
//
// # Contract
//
// Every metric that a panel or a rule names is exported by package metrics, by an
// application, or by the collectors of Go, the process and libp2p: a test compares. Every
// alert has a fault that sets it off, injected into a run that a real Prometheus
// watches, and every panel an expression that Prometheus accepts.
//
// A query chooses its series by job and node:
//
//	"expr": "sum by (node) (rate(orwl_task_rounds_total{job=~\"$job\", node=~\"$node\"}[$__rate_interval]))"
//
// The package takes no locks and starts nothing: it is data.
package dashboards
