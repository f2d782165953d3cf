package topology

import "strings"

// levelNames are all names of levels, from coarse to fine; the place in the
// list is the order.
var levelNames = [...]string{
	"machine", "group", "rack", "node", "socket", "numa", "cache", "core", "thread", "rank",
}

// grain is the place of a name in levelNames, greater for finer, or -1.
func grain(name string) int {
	for i, known := range levelNames {
		if name == known {
			return i
		}
	}
	return -1
}

// finerThan lists the names that may follow the given grain.
func finerThan(grain int) string {
	if grain == len(levelNames)-1 {
		return "nothing more, " + levelNames[grain] + " is the finest"
	}
	return strings.Join(levelNames[grain+1:], ", ")
}

// coarserThan lists the names that may come before the given grain, the machine
// aside.
func coarserThan(grain int) string {
	if grain <= 1 {
		return "nothing, for " + levelNames[1] + " is the coarsest"
	}
	return strings.Join(levelNames[1:grain], ", ")
}

// nearestName is the level name that was probably meant, or empty if none is
// near enough to be worth saying.
func nearestName(name string) string {
	if len(name) > 2*len(levelNames[0]) {
		return ""
	}
	name = strings.ToLower(name)
	nearest, least := "", (len(name)+1)/2+1
	for _, known := range levelNames {
		if d := editDistance(name, known); d < least {
			nearest, least = known, d
		}
	}
	return nearest
}

// editDistance counts the letters to insert, delete or exchange to turn a into
// b (Levenshtein), keeping one row of the table.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			exchange := diagonal
			if a[i] != b[j] {
				exchange++
			}
			diagonal = row[j+1]
			row[j+1] = min(exchange, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
