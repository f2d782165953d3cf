package mem

import (
	"testing"
	"time"
)

func TestInside(t *testing.T) { time.Sleep(time.Second) }
