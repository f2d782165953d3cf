//go:build !amd64 || race

package rows

import "testing"

func each(t *testing.T, test func(t *testing.T)) { t.Run("Go", test) }
