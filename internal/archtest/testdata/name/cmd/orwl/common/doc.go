// Package common stands for the real one.
package common
