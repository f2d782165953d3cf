//go:build !linux

package locks

import "time"

func spin() int64 { return time.Since(time.Time{}).Nanoseconds() }
