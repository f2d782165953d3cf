package resource

import "testing"

func TestGrant(t *testing.T) { go t.Log("a test may") }
