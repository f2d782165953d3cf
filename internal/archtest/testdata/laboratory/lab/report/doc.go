// Package report imports what it may.
package report

import _ "github.com/orwl/go-orwl/lab"
