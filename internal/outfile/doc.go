// Package outfile writes files of results. A file has its name when it is complete, and a path that
// cannot be written fails before the work begins.
package outfile
