package picker

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Item is one entry of a Picker.
type Item struct {
	ID     string // what a Result names
	Title  string
	Detail string // behind the title, where there is room
	Keys   string // the keys that do the same, as they are shown
	// Disabled is why the entry cannot be chosen now; "" when it can. It stands
	// in the place of the keys.
	Disabled string
}

// A Hit is one item that a query found.
type Hit struct {
	Index int // into the items
	// Positions are the runes of the title that the query met, counted from 0, in
	// any order. Numbers that are none of its runes are ignored.
	Positions []int
}

// A Match finds the items for a query, the best first. An empty query finds all
// of them.
type Match func(query string, items []Item) []Hit

// Subsequence finds the titles that hold the characters of the query in their
// order, spaces and case left aside. Items keep their order, but those whose
// title holds the query in one piece come first.
func Subsequence(query string, items []Item) []Hit {
	query = strings.Join(strings.Fields(query), "")
	whole, loose := make([]Hit, 0, len(items)), []Hit(nil)
	for i, item := range items {
		positions, ok := subsequence(query, item.Title)
		if !ok {
			continue
		}
		hit := Hit{Index: i, Positions: positions}
		if at := inOnePiece(query, item.Title); at != nil {
			hit.Positions = at
			whole = append(whole, hit)
			continue
		}
		loose = append(loose, hit)
	}
	return append(whole, loose...)
}

// subsequence returns where the query's characters lie in a title, the first
// place of each.
func subsequence(query, title string) (positions []int, ok bool) {
	for i, r := range []rune(title) {
		want, n := utf8.DecodeRuneInString(query)
		if n > 0 && same(r, want) {
			positions = append(positions, i)
			query = query[n:]
		}
	}
	return positions, query == ""
}

// inOnePiece returns the first place where the title holds the query without a
// gap, spaces left aside. It is empty, not nil, for an empty query.
func inOnePiece(query, title string) []int {
	text := []rune(title)
	for start := range text {
		positions, left := []int{}, query
		for i, r := range text[start:] {
			want, n := utf8.DecodeRuneInString(left)
			if n > 0 && unicode.IsSpace(r) && len(positions) > 0 {
				continue
			}
			if n == 0 || !same(r, want) {
				break
			}
			positions = append(positions, start+i)
			left = left[n:]
		}
		if left == "" {
			return positions
		}
	}
	return nil
}

func same(a, b rune) bool { return unicode.ToLower(a) == unicode.ToLower(b) }
