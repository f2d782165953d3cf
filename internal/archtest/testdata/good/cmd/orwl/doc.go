// Command orwl stands for the real one.
package main
