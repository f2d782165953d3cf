// Package ending is how other nodes end a run on this node. A [Reason] says why the run ends: because
// another node has failed, is lost, or because this node must not go on alone. [Endings] are the
// grants that end by a loss, for the log. Neither knows tasks, nor how nodes talk.
package ending
