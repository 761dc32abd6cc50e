package config

import "strings"

// Nearest returns the candidate that takes the fewest single-letter changes to
// reach from name, or "" when even that is too far to be a slip of the fingers.
// Of equally near ones the first wins.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", -1
	for _, candidate := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(candidate))
		if d > (max(len(name), len(candidate))+2)/3 {
			continue
		}
		if bestDistance < 0 || d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance counts insertions, deletions, substitutions and swaps of neighbours.
func distance(a, b string) int {
	var before []int // the row above the previous one, for swaps
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := previous[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, previous[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}
