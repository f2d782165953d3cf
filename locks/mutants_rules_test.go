package locks_test

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"

	"github.com/orwl/go-orwl/internal/mutants"
)

// rules are the mistakes that are made in the locks.
var rules = mutants.Rules{
	Spares: func(file, function string) bool {
		return spared.MatchString(function) && (function != "wait" || !strings.HasPrefix(file, "mcs"))
	},
	SparedCalls: []string{"Inc", "handedOver", "heed", "returns", "mergeReturns", "misuse", "Pause", "HandedOver", "came", "acquired"},
	SparedNames: []string{"asks", "asked", "waited", "behind", "upper", "met"},
	Computes:    computing.MatchString,
	Call:        mistakeCall,
}

// computing are the files whose fields, counts and amounts are mutated, too.
var computing = regexp.MustCompile(`^(shfl|cna|tlp|crw|rmarw|ticket|hemlock|clh|fompi|cohort|hmcs|rh|hclh|ahmcs|cst)`)

// spared are functions that are no part of a protocol: they make locks, count what
// happened, and say how long a rank stays away.
var spared = regexp.MustCompile(`^(new|words|init|levels|allLevels|cohort(s|Locals|Globals)$|apart|line|misuse|brokenBy|returns|mergeReturns|handedOver|heed|came|acquired|entered|Counts|plus|barge$|wait$|own$|other$|shows|mustTell|forever|ticketSlots|tlps$|tlpByName|tlpOver|crws$|crwByName|crwOver|spinQueues|cnas$|stridesOf$|perElement$|power$)`)

// accesses are the methods of a word whose mistakes are no choice of operands, and what
// these mistakes are.
var accesses = map[string][]string{
	"publish":        {"wakes no rank", "not flushed"},
	"accumulate":     {"wakes no rank", "not flushed"},
	"Store":          {"not flushed"},
	"Swap":           {"not atomic"},
	"CompareAndSwap": {"not atomic"},
	"Add":            {"not atomic", "adds nothing"},
}

// mistakeCall mutates what a call does.
func mistakeCall(m *mutants.Mutation, c *ast.CallExpr) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch name := sel.Sel.Name; name {
	case "broken", "mustTell":
		m.Wrap(c, "(!mutated(%d) && (", "))", m.Add(c, "false"))
	case "decided":
		id := m.Add(c, "nil")
		m.Wrap(c.Fun, "mutatedUnless(%d, ", ")", id)
		m.Replace(c.Lparen, 2, "")
	case "Masked":
		m.Operand(c.Args[0], "mutatedOnes", m.Add(c, "without the mask"))
	default:
		what, ok := accesses[name]
		if !ok || len(c.Args) == 0 {
			return
		}
		numbers := ""
		for _, w := range what {
			numbers += fmt.Sprintf("%d, ", m.Add(c, w))
		}
		m.Replace(sel.Sel.Pos(), len(name), "mutated%s", name)
		m.Replace(c.Lparen+1, 0, "%s", numbers)
	}
}
