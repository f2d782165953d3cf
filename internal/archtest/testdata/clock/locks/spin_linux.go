package locks

import "time"

func spin() int64 { return time.Now().Unix() }
