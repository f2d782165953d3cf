// Package orwl runs programs whose tasks share data in a fixed, repeating order.
package orwl
