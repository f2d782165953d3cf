// Package faultpage makes memory whose views fault when they are used too late.
package faultpage
