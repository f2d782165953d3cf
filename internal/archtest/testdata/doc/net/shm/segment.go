// Package shm has its comment in the wrong file.
package shm
