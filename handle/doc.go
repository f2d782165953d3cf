// Package handle is the user's side of a resource.
package handle
