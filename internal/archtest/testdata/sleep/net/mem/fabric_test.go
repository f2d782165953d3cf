package mem_test

import (
	"testing"
	"time"
)

func TestOutside(t *testing.T) {
	t.Run("nested", func(t *testing.T) { time.Sleep(1) })
	<-time.After(1)
}
