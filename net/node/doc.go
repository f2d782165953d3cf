// Package node is the contract between a run and the network of its nodes. Package orwl asks a
// [Network] to join, and talks with the other nodes by the [Node] that it gets.
//
// Package net/p2p has the nodes, and orwl/nodes gives them to a program. This package links
// neither. So a program of one process carries no network:
//
//	orwl ──▶ node ◀── orwl/nodes ──▶ net/p2p ──▶ libp2p
//
// Each method has the contract of the method with the same name in package p2p.
package node
