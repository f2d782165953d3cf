//go:build !unix

package fair

import "time"

func spent() time.Duration { return 0 }
