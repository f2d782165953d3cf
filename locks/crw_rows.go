package locks

import "strings"

// crws are the rows of the table: C-RW over one cohort lock. ByName makes any other.
func crws(family []Spec) (rows []Spec) {
	for _, name := range []string{"C-RW-NP-MCS-MCS", "C-RW-RP-MCS-MCS", "C-RW-WP-MCS-MCS"} {
		if row, ok := crwByName(family, name); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// crwByName is the lock C-RW-X-G-L over a cohort lock of a family.
func crwByName(family []Spec, name string) (Spec, bool) {
	for p, row := range crwRows {
		if parts, ok := strings.CutPrefix(name, row.prefix); ok {
			if cohort, ok := find(family, "C-"+parts); ok {
				return crwOver(preference(p), cohort), true
			}
		}
	}
	return Spec{}, false
}

// crwRows are what the three locks have of their own: the operations on top of the cohort
// lock's, with two indicators.
var crwRows = [...]struct {
	prefix, about, fairness        string
	uncontended, contended, reader Operations
	options                        []string
}{
	noPreference: {"C-RW-NP-", "readers and writers take turns at ", "the cohort lock's, for readers and writers alike",
		Operations{Gets: 4}, Operations{Gets: 4}, Operations{Atomics: 1, Puts: 1}, nil},
	readersFirst: {"C-RW-RP-", "readers go before the writers of ", "readers first, until a writer has looked Patience times",
		Operations{Atomics: 4, Gets: 4}, Operations{Atomics: 4, Gets: 4}, Operations{Atomics: 1, Puts: 1}, []string{"Patience"}},
	writersFirst: {"C-RW-WP-", "readers go behind the writers of ", "writers first, until a reader has seen Patience of them",
		Operations{Atomics: 4, Gets: 7}, Operations{Atomics: 2, Gets: 3}, Operations{Atomics: 1, Puts: 1}, []string{"Patience"}},
}

func crwOver(p preference, cohort Spec) Spec {
	row := crwRows[p]
	cost := Cost{cohort.Cost.Uncontended.plus(row.uncontended), cohort.Cost.Contended.plus(row.contended), row.reader}
	switch p {
	case noPreference:
		cost.Reader = cost.Reader.plus(cohort.Cost.Uncontended)
	case writersFirst:
		alone, known := cohort.costOfAlone()
		cost.Uncontended, cost.Contended = cost.Uncontended.plus(alone), cost.Contended.plus(known)
	}
	return Spec{
		Name: row.prefix + strings.TrimPrefix(cohort.Name, "C-"), Kind: ReaderWriter, Paper: "Calciu et al., PPoPP'13",
		About: row.about + cohort.Name, Fairness: row.fairness, Words: wordsOfCRW(cohort), at: newCRW(p, cohort),
		Options: append([]string{"TDC"}, row.options...),
		Cost:    cost,
	}
}
