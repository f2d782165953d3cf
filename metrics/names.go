package metrics

import "slices"

// family is a metric and what there is to say of it.
type family struct {
	name   string
	kind   kind
	labels []string // beside node
	help   string
}

// kind is what Prometheus takes a metric for.
type kind string

const (
	counter kind = "counter"
	gauge   kind = "gauge"
	buckets kind = "histogram"
)

// families are all that is ours. It is the one list: what is collected, what is
// documented and what dashboards may name are made from it, or compared with it.
func families() []family {
	access := []string{"mode", "door"}
	timed := []string{"mode", "door", "algorithm"}
	flow := []string{"kind", "direction"}
	lock := []string{"lock", "algorithm"}
	return []family{
		{"orwl_accesses_total", counter, append(access, "outcome"), "Accesses that were acquired, were cancelled before, or failed because the resource was broken or its home lost."},
		{"orwl_waits_total", counter, access, "Accesses that had to wait."},
		{"orwl_acquire_wait_seconds", buckets, timed, "How long accesses waited. Who did not wait counts as 0. Sampled where they follow one another quickly, see Options.Sample."},
		{"orwl_hold_seconds", buckets, timed, "How long accesses held. Sampled where they follow one another quickly."},
		{"orwl_handover_seconds", buckets, []string{"scope"}, "From a release to the acquisition of the next, where that one waited. Remote: from the arrival of the grant, with its bytes, on the node of the next. Sampled as holds are, and more seldom."},
		{"orwl_queue_length", buckets, nil, "How many are in a resource's queue at its home, holders included, when an access acquires. Sampled as holds are."},
		{"orwl_group_size", buckets, nil, "How many readers are granted together between two writers. Sampled as holds are."},
		{"orwl_announcements_total", counter, []string{"mode"}, "Requests by the ordered door: accesses announced."},
		{"orwl_remote_accesses_total", counter, []string{"mode"}, "Accesses that were acquired and whose resource has its home on another node."},
		{"orwl_prefetch_hits_total", counter, []string{"mode"}, "Of the remote accesses, those that did not have to wait: the announcement has brought everything in time."},
		{"orwl_prefetch_bytes_total", counter, []string{"when"}, "Bytes that came from another node for an announced access: in time, before it was to be acquired, or late."},
		{"orwl_prefetch_hidden_seconds_total", counter, nil, "For how long bytes and grants from other nodes were on their way while nobody waited for them yet."},

		{"orwl_task_rounds_total", counter, nil, "Rounds that tasks have been through."},
		{"orwl_task_compute_seconds_total", counter, nil, "Time since tasks began in which they did not wait for an access."},
		{"orwl_task_wait_seconds_total", counter, nil, "Time in which tasks waited for an access. Step tasks are not timed: every few milliseconds the runtime looks who waits."},
		{"orwl_tasks", gauge, []string{"state"}, "Tasks of this node that work, wait for an access, are queued because no worker is free, or have ended."},
		{"orwl_workers", gauge, []string{"state"}, "Workers of this node that run bodies or look for one, and those that sleep."},

		{"orwl_net_frames_total", counter, flow, "Frames within streams between nodes; each once that goes out, and each as often as it comes in."},
		{"orwl_net_bytes_total", counter, flow, "Bytes of those frames, headers included and encryption not."},
		{"orwl_net_retries_total", counter, nil, "Frames that were written again because a stream broke."},
		{"orwl_net_resumes_total", counter, nil, "Streams that went on where another had broken."},
		{"orwl_net_duplicates_total", counter, nil, "Frames that came again."},
		{"orwl_net_round_trip_seconds", buckets, nil, "How long heartbeats were on their way to another node and back."},
		{"orwl_net_refused_total", counter, []string{"reason"}, "Connections of strangers, nodes that were refused, and streams closed for a frame that was malformed, too large, or had another checksum."},
		{"orwl_net_nodes", gauge, []string{"state"}, "Nodes of the run, this one included, as this one sees them."},
		{"orwl_net_loans_total", counter, []string{"direction"}, "Messages whose bytes were read where they lay, in memory that nodes of a machine share."},

		{"orwl_leases_expired_total", counter, nil, "Grants of resources with their home here that ended because the node that held them was lost."},
		{"orwl_fences_total", counter, nil, "Releases and writes that came too late for a home here and were refused by their fence."},
		{"orwl_revocations_total", counter, nil, "Grants of resources with their home elsewhere that this node gave up by itself, because the home was lost or may have given this node up."},
		{"orwl_stalls_total", counter, nil, "How often nothing had moved for as long as Options.Stall of the runtime says."},
		{"orwl_stalled", gauge, nil, "1 while nothing has moved since the last stall, else 0."},
		{"orwl_life", gauge, nil, "The number of the run's present life, from 1: each loss of a node begins another one. Absent if the run has one life, as the five below."},
		{"orwl_cuts_total", counter, nil, "Cuts that were whole: a life after a loss begins from the last one."},
		{"orwl_cut_round", gauge, nil, "The round behind which the last whole cut is, or the present life has begun."},
		{"orwl_cut_age_seconds", gauge, nil, "How old the last whole cut is: the loss of a node costs so much work. Before the first one, for how long the life goes on."},
		{"orwl_cut_bytes_total", counter, nil, "Bytes that tasks of this node have copied for cuts."},
		{"orwl_cut_failures_total", counter, nil, "Parts of cuts that this node could not send to another one, or save in the folder."},
		{"orwl_broken_locks", gauge, nil, "Resources that are broken for good, and locks that somebody could not have because they are."},

		{"orwl_lock_acquisitions_total", counter, lock, "Acquisitions of a lock."},
		{"orwl_lock_waits_total", counter, lock, "Of these, those that found a predecessor."},
		{"orwl_lock_passed_total", counter, lock, "How often the lock was handed on within an element of the machine."},
		{"orwl_lock_kept_total", counter, lock, "Of the acquisitions of a lock for goroutines, those in which the rank had the lock already: readers beside others, and goroutines whose processor had kept the lock."},
		{"orwl_lock_rank_waits_total", counter, lock, "How often a goroutine waited for a rank of its processor, before it could ask for the lock."},
		{"orwl_lock_local_handover_ratio", gauge, lock, "Share of the acquisitions that were followed by a hand-over within the element."},
		{"orwl_lock_contention_ratio", gauge, append(lock, "scope"), "Share of the acquisitions that found a predecessor: of all, and of those that went beyond the element."},
		{"orwl_lock_fairness_cv", gauge, lock, "Coefficient of variation of the acquisitions of the ranks that have acquired at all; 0 is fair."},

		{"orwl_sessions", gauge, nil, "Sessions of other processes that are open at this server of locks by name."},
		{"orwl_sessions_opened_total", counter, nil, "Sessions that were opened."},
		{"orwl_sessions_expired_total", counter, nil, "Sessions that ended because they were silent for their lease."},
		{"orwl_session_locks", gauge, []string{"state"}, "Locks that sessions hold, and requests that wait."},
		{"orwl_session_locks_granted_total", counter, nil, "Locks that were granted to sessions."},
		{"orwl_session_locks_lost_total", counter, nil, "Locks that were taken from a session: it was silent for its lease, or has not let go when it was told to."},
		{"orwl_session_forced_releases_total", counter, nil, "Holders that an operator has told to let go."},

		{"orwl_resource_messages_total", counter, []string{"direction"}, "Messages between homes and mirrors of resources."},
		{"orwl_resource_bytes_total", counter, []string{"direction"}, "Bytes of contents in these."},
		{"orwl_resource_refused_total", counter, []string{"reason"}, "Of the messages that came, those that were not taken."},
		{"orwl_info", gauge, []string{"version", "go_version", "nodes"}, "1; the labels say what runs."},
	}
}

// Names are the names of all metrics that a Metrics may export, in alphabetical order,
// without the metrics of Go, of the process and of libp2p.
func Names() []string {
	var names []string
	for _, f := range families() {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// perTask are the families that have the label task if that is asked for.
var perTask = []string{"orwl_task_rounds_total", "orwl_task_compute_seconds_total", "orwl_task_wait_seconds_total"}
