package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// didYouMean is ", did you mean X?" if one of the words is nearly what was given, or nothing.
func didYouMean(given string, words []string) string {
	best, least := "", 3 // more slips than two make another word
	for _, w := range words {
		if d := distance(strings.TrimLeft(given, "-"), strings.TrimLeft(w, "-")); d < least && d < len(w)-1 {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// Nearest are the n words that take the fewest slips to what was given, the nearest first. Case and hyphens count as none.
func Nearest(given string, words []string, n int) []string {
	plain := func(word string) string { return strings.ReplaceAll(strings.ToLower(word), "-", "") }
	all := slices.Clone(words)
	slices.SortStableFunc(all, func(a, b string) int {
		return cmp.Compare(distance(plain(given), plain(a)), distance(plain(given), plain(b)))
	})
	return all[:min(n, len(all))]
}

// distance is how many slips turn one word into the other: a letter more, less, another one, or
// two in the wrong order.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			other := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				other++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
