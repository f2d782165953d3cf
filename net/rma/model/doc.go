// Package model describes a machine by what its window operations cost. A
// [Meter] measures a [Model] on any fabric; net/sim plays one as its machine.
package model
