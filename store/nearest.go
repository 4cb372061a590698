package store

// nearest returns the name with the fewest changes to word: letters put in,
// left out or replaced. "" if even that one differs in more than a third.
func nearest(word string, names []string) string {
	best, least := "", len(word)/3+2
	for _, n := range names {
		if d := distance(word, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes, of the first 64 of each.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
