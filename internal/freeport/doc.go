// Package freeport finds ports without a listener, for tests that give a program its address.
package freeport
