// Package typed shows the bytes of a resource as elements of a type, for packages handle, orwl and stencil. An element must
// mean the same in every process, so a type is checked before its first use, and once only: [Memo] remembers it.
//
// Package handle has the views that users see: a handle.View is a [View] with methods.
package typed
