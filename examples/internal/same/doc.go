// Package same tests that a solver on a grid gives the same bits on any blocks and nodes, after the same sweep.
package same
