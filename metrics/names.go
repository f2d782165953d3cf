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
	access := []string{"mode", "access"}
	timed := []string{"mode", "access", "algorithm"}
	flow := []string{"kind", "direction"}
	lock := []string{"lock", "algorithm"}
	return []family{
		{"orwl_accesses_total", counter, append(access, "outcome"), "Accesses that were acquired or cancelled, or failed with their resource or its home."},
		{"orwl_waits_total", counter, access, "Accesses that had to wait."},
		{"orwl_acquire_wait_seconds", buckets, timed, "How long accesses waited; 0 without a wait. Sampled where they follow one another quickly: see Options.Sample."},
		{"orwl_hold_seconds", buckets, timed, "How long accesses held. Sampled where they follow one another quickly."},
		{"orwl_handover_seconds", buckets, []string{"scope"}, "From a release to the next acquisition, if that one waited. Remote: from the arrival of the grant with its bytes. Sampled less often than holds."},
		{"orwl_queue_length", buckets, nil, "Length of a resource's queue at its home, holders included, when an access acquires. Sampled as holds are."},
		{"orwl_group_size", buckets, nil, "Readers that are granted together. Sampled as holds are."},
		{"orwl_announcements_total", counter, []string{"mode"}, "Ordered accesses that were announced."},
		{"orwl_remote_accesses_total", counter, []string{"mode"}, "Acquired accesses whose resource has its home on another node."},
		{"orwl_prefetch_hits_total", counter, []string{"mode"}, "Remote accesses that did not wait, because the announcement brought everything in time."},
		{"orwl_prefetch_bytes_total", counter, []string{"when"}, "Bytes from other nodes for announced accesses, before Acquire (in time) or after it."},
		{"orwl_prefetch_hidden_seconds_total", counter, nil, "Time in which bytes and grants from other nodes travelled and no access waited for them."},

		{"orwl_task_rounds_total", counter, nil, "Rounds that tasks have ended."},
		{"orwl_task_compute_seconds_total", counter, nil, "Time in which tasks did not wait for an access."},
		{"orwl_task_wait_seconds_total", counter, nil, "Time in which tasks waited for an access, or were queued for a worker. For step tasks, the runtime looks every few milliseconds which ones wait."},
		{"orwl_tasks", gauge, []string{"state"}, "Tasks of this node that work, wait for an access, are queued because no worker is free, or have ended."},
		{"orwl_tasks_remote", gauge, nil, "Waiting tasks of this node that wait for another node: for its turn to end, or for bytes."},
		{"orwl_workers", gauge, []string{"state"}, "Workers of this node that run bodies or look for one, and those that sleep."},

		{"orwl_worker_takes_total", counter, nil, "How often a worker has taken a task of another one."},
		{"orwl_grid_sweeps", gauge, []string{"grid"}, "Sweeps of this node's blocks of a grid, unless a reduction ends it before."},
		{"orwl_grid_sweeps_done", gauge, []string{"grid"}, "Sweeps of this node's blocks of a grid that are done."},
		{"orwl_resource_wait_seconds_total", counter, []string{"resource"}, "Time in which tasks of this node waited for a resource: see Options.Contended."},

		{"orwl_net_frames_total", counter, flow, "Frames between nodes. A retry counts where it comes in, not where it goes out."},
		{"orwl_net_bytes_total", counter, flow, "Bytes of frames with their headers, without encryption."},
		{"orwl_net_retries_total", counter, nil, "Frames that were written again after a stream broke."},
		{"orwl_net_resumes_total", counter, nil, "Streams opened to replace a broken one."},
		{"orwl_net_duplicates_total", counter, nil, "Frames that came twice."},
		{"orwl_net_round_trip_seconds", buckets, nil, "Round trips of heartbeats."},
		{"orwl_net_refused_total", counter, []string{"reason"}, "Refused connections and nodes, and streams closed for a bad frame."},
		{"orwl_net_nodes", gauge, []string{"state"}, "Nodes of the run, as this one sees them, itself included."},
		{"orwl_net_loans_total", counter, []string{"direction"}, "Messages whose bytes were read in place, in memory that nodes of a machine share."},

		{"orwl_leases_expired_total", counter, nil, "Grants of homes here that ended because their node was lost."},
		{"orwl_fences_total", counter, nil, "Releases and writes that came too late for a home here."},
		{"orwl_revocations_total", counter, nil, "Grants of homes elsewhere that this node gave up, because the home was lost or may have given this node up."},
		{"orwl_stalls_total", counter, nil, "How often nothing had moved for Options.Stall."},
		{"orwl_stalled", gauge, nil, "1 while nothing has moved since the last stall, else 0."},
		{"orwl_life", gauge, nil, "The number of the run's present life, from 1: each loss of a node begins another one. Absent if the run has one life, as the five below."},
		{"orwl_cuts_total", counter, nil, "Cuts that were whole: a life after a loss begins from the last one."},
		{"orwl_cut_round", gauge, nil, "The round behind which the last whole cut is, in its run of the runtime, or the present life has begun."},
		{"orwl_cut_age_seconds", gauge, nil, "How old the last whole cut is: the loss of a node costs so much work. Before the first one, for how long the life goes on."},
		{"orwl_cut_bytes_total", counter, nil, "Bytes that tasks of this node have copied for cuts."},
		{"orwl_cut_failures_total", counter, nil, "Parts of cuts that this node could not send to another one, or save in the folder."},
		{"orwl_broken_locks", gauge, nil, "Resources that are broken for good, and locks whose acquisition failed because they are."},

		{"orwl_lock_acquisitions_total", counter, lock, "Acquisitions of a lock."},
		{"orwl_lock_waits_total", counter, lock, "Acquisitions that found a predecessor."},
		{"orwl_lock_passed_total", counter, lock, "How often the lock was passed on within an element of the machine."},
		{"orwl_lock_kept_total", counter, lock, "Acquisitions by goroutines whose processor had the lock already."},
		{"orwl_lock_rank_waits_total", counter, lock, "How often a goroutine waited for its processor's rank before it could ask for the lock."},
		{"orwl_lock_local_handover_ratio", gauge, lock, "Share of acquisitions with a hand-over within the element after them."},
		{"orwl_lock_contention_ratio", gauge, append(lock, "scope"), "Share of acquisitions that found a predecessor: of all, and of those beyond the element."},
		{"orwl_lock_fairness_cv", gauge, lock, "Coefficient of variation of the ranks' acquisitions; 0 is fair. Ranks without any do not count."},

		{"orwl_sessions", gauge, nil, "Open sessions at this server of locks by name."},
		{"orwl_sessions_opened_total", counter, nil, "Sessions that were opened."},
		{"orwl_sessions_expired_total", counter, nil, "Sessions that were silent for their lease."},
		{"orwl_session_locks", gauge, []string{"state"}, "Locks that sessions hold, and requests that wait."},
		{"orwl_session_locks_granted_total", counter, nil, "Locks that were granted to sessions."},
		{"orwl_session_locks_lost_total", counter, nil, "Locks that a session lost: it was silent for its lease, or did not let go when it was told to."},
		{"orwl_session_forced_releases_total", counter, nil, "Holders that an operator told to let go."},

		{"orwl_resource_messages_total", counter, []string{"direction"}, "Messages between homes and mirrors of resources."},
		{"orwl_resource_bytes_total", counter, []string{"direction"}, "Bytes of contents in messages between homes and mirrors."},
		{"orwl_resource_refused_total", counter, []string{"reason"}, "Messages between homes and mirrors that were not taken."},
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
