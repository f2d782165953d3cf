package orwl

import (
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// TestMore runs the tests that have a larger budget for a change than for users. Their schedules
// are the scheduler's, so none of them computes the same in every run.
func TestMore(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Run("SequentialEquivalence", TestSequentialEquivalence)
	t.Run("SequentialEquivalenceOnNodes", TestSequentialEquivalenceOnNodes)
	t.Run("SequentialEquivalenceOfCarriers", TestSequentialEquivalenceOfCarriers)
	t.Run("FailureDisturbsNoRound", TestFailureDisturbsNoRound)
	t.Run("Lead", TestLead)
	t.Run("LeadIsReached", TestLeadIsReached)
	t.Run("Observer", TestObserver)
	t.Run("Stages", TestStages)
	t.Run("StagesOnNodes", TestStagesOnNodes)
	t.Run("RingOfTenThousand", TestRingOfTenThousand)
	runMore(t)
}
