// Package net hides the standard library.
package net
