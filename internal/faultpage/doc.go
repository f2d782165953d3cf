// Package faultpage makes memory that each handle sees only while it holds the
// resource. A handle that uses its view after the release does not read what another
// task writes: the access faults, and the package tells whose view it was.
//
//	var space faultpage.Space
//	m, err := space.NewMemory("grid", 4096) // the owner's bytes: m.Bytes()
//	v, err := m.View("north")               // one view for each handle
//	b, err := v.Open(faultpage.Read)        // after the acquire
//	err = v.Shut()                          // before the release: b faults from now on
//
// A [Space] makes memories and finds stale views. A [Memory] holds the bytes of one
// resource. A [View] is what one handle sees of them.
//
// All methods are safe for concurrent use. The bytes are not: the resource orders
// their readers and writers. A Space has one mutex, and calls only the system while
// it holds the mutex.
//
// Only Linux has fault pages. On another system NewMemory returns [ErrUnsupported].
package faultpage
