// Package coherence keeps the copies of a resource's bytes on several nodes in step. It
// is the protocol between the home of a resource and its mirrors, as two step functions.
//
//	a node's requests                            the queue at the home
//	       │  ▲                                         ▲  │
//	       ▼  │ events                       operations │  ▼ grants
//	     ┌────────┐   Request, Renew, Release, ...    ┌──────┐
//	     │ Mirror │ ────────────────────────────────▶ │ Home │
//	     │        │ ◀──────────────────────────────── │      │
//	     └────────┘   Grant, Refused, ...             └──────┘
//	       buffer                                       buffer
//
// [Home] takes messages of mirrors and grants of the queue. [Mirror] takes messages of the
// home and requests of its node. Both write what they want into a [Work]: messages to send,
// operations of the queue, events for the node's requests. The caller does this work in
// order, and gives back what the queue answers. Neither half calls anything but its
// [Buffer] and its [Ledger]. There is no goroutine, no clock and no lock here.
//
// Bytes go to a mirror once for each version, with the first grant of that version. The
// home sends the grant as soon as it is the request's turn, whether or not the task has
// come to its acquire. This is what an announcement hides.
package coherence
