// Package resource is a lock and the bytes that it protects.
package resource
