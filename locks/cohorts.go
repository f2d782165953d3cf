package locks

import "github.com/orwl/go-orwl/net/topology"

// cohortLocal and cohortGlobal are the locks that a cohort is made of.
type cohortLocal struct {
	name  string
	words Words
	new   func(*seat) inner
	cost  Cost
}

type cohortGlobal struct {
	name  string
	words Words
	// new makes the lock for a rank; node is the rank whose memory holds the
	// element's share.
	new func(s *seat, node Rank) core
	// fairness is its own, between elements.
	fairness string
	cost     Operations // uncontended
}

// cohorts are the rows of the table: every global lock with every local one.
func cohorts() []Spec {
	globals := []cohortGlobal{
		{"TAS", Words{Home: 1}, func(s *seat, _ Rank) core { return newTAS(s) },
			"none: TAS goes to anybody, after T_L,N in a row", Operations{Atomics: 1, Puts: 1}},
		{"TKT", wordsOfTKT(nil, Options{}), func(s *seat, _ Rank) core { return newLoneTKT(s) },
			"T_L,N in a row", Operations{Atomics: 1, Puts: 1, Gets: 1}},
		{"MCS", Words{Home: 1, Rank: nodeWords + 1}, func(s *seat, node Rank) core {
			if s.o.OwnNode {
				return newOwnQueue(s, node)
			}
			return sharedQueue(s, node)
		}, "T_L,N in a row", Operations{Atomics: 2, Gets: 1}},
	}
	locals := []cohortLocal{
		{"TTS", wordsOfTTS(nil, Options{}), func(s *seat) inner { return newTTS(s) },
			Cost{Uncontended: Operations{Atomics: 1, Puts: 1, Gets: 2}, Contended: Operations{Atomics: 1, Puts: 3, Gets: 3, Unbounded: true}}},
		{"TKT", wordsOfTKT(nil, Options{}), func(s *seat) inner { return newLoneTKT(s) },
			Cost{Uncontended: Operations{Atomics: 1, Puts: 1, Gets: 3}, Contended: Operations{Atomics: 1, Puts: 1, Gets: 4}}},
		{"MCS", Words{Home: 1, Rank: nodeWords}, func(s *seat) inner {
			return sharedQueue(s, s.rank)
		}, Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 1, Puts: 2}}},
		{"CLH", wordsOfCLH(nil, Options{}), newCLH,
			Cost{Uncontended: Operations{Atomics: 1, Puts: 1, Gets: 2}, Contended: Operations{Atomics: 1, Puts: 1, Gets: 3}}},
		{"HEM", Words{Home: 1, Rank: 1}, newHemlock(hemlockVariant{ctr: true}),
			Cost{Uncontended: Operations{Atomics: 2, Gets: 1}, Contended: Operations{Atomics: 3, Gets: 2}}},
	}
	var rows []Spec
	for _, g := range globals {
		for _, l := range locals {
			options := []string{"TL", "Count"}
			if g.name == "MCS" {
				options = append(options, "OwnNode")
			}
			rows = append(rows, Spec{
				Name: "C-" + g.name + "-" + l.name, Paper: "003 §5.4", About: "cohort lock, " + g.name + " over " + l.name,
				Fairness: g.fairness, Options: options,
				Words: func(*topology.Tree, Options) Words { return cohort{}.words(l, g) }, at: newCohort(l, g),
				Cost: Cost{Uncontended: g.cost.plus(l.cost.Uncontended), Contended: l.cost.Contended},
			})
		}
	}
	return rows
}

// plus is the sum of two locks' operations.
func (o Operations) plus(p Operations) Operations {
	return Operations{o.Atomics + p.Atomics, o.Puts + p.Puts, o.Gets + p.Gets, o.Unbounded || p.Unbounded}
}
