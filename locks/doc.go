// Package locks is the locks that resources stand on.
package locks
