// Package orwl imports the laboratory.
package orwl
