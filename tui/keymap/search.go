package keymap

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// What a matched letter is worth. A letter at the start of a word, and letters
// that follow each other, say more than letters found anywhere.
const (
	scoreLetter = 16
	scoreStart  = 24 // at the start of a word
	scoreFirst  = 8  // and of the whole text
	scoreRun    = 20 // right behind the letter matched before
	costGap     = 1  // for each letter passed over between two matched ones
	maxGap      = 12 // a gap never costs more than this
)

// Score finds the letters of a query in a text, in their order, whatever lies
// between, and without regard to case. It returns how good the best such
// alignment is and the positions of its letters, counted in runes. Words of the
// query may match in any order; every one of them has to.
func Score(query, text string) (score int, positions []int, ok bool) {
	runes := []rune(text)
	for word := range strings.FieldsSeq(query) {
		s, at, found := align(fold([]rune(word)), runes)
		if !found {
			return 0, nil, false
		}
		score += s
		positions = append(positions, at...)
	}
	slices.Sort(positions)
	return score, slices.Compact(positions), true
}

func fold(r []rune) []rune {
	for i := range r {
		r[i] = unicode.ToLower(r[i])
	}
	return r
}

// impossible is less than any score.
const impossible = -1 << 30

// align finds the best alignment of a word. best[i][j] is the score of the first
// i+1 letters with letter i at place j; from[i][j] is where letter i-1 then is.
func align(word, text []rune) (int, []int, bool) {
	if len(word) == 0 || len(word) > len(text) {
		return 0, nil, len(word) == 0
	}
	low := fold(slices.Clone(text))
	best, from := make([][]int, len(word)), make([][]int, len(word))
	for i, letter := range word {
		best[i], from[i] = make([]int, len(text)), make([]int, len(text))
		for j := range text {
			best[i][j] = impossible
			if low[j] != letter {
				continue
			}
			own := scoreLetter + bonus(text, j)
			if i == 0 {
				best[i][j] = own
				continue
			}
			for k := range j {
				if s := best[i-1][k] + own + step(j-k-1); best[i-1][k] > impossible && s > best[i][j] {
					best[i][j], from[i][j] = s, k
				}
			}
		}
	}
	last := len(word) - 1
	at := 0
	for j, s := range best[last] {
		if s > best[last][at] {
			at = j
		}
	}
	score := best[last][at]
	if score == impossible {
		return 0, nil, false
	}
	positions := make([]int, len(word))
	for i := last; i >= 0; i-- {
		positions[i] = at
		at = from[i][at]
	}
	return score, positions, true
}

// step is what a gap between two matched letters costs, or what no gap brings.
func step(gap int) int {
	if gap == 0 {
		return scoreRun
	}
	return -min(gap*costGap, maxGap)
}

// bonus is what a place in the text is worth by itself.
func bonus(text []rune, j int) int {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	switch {
	case j == 0:
		return scoreStart + scoreFirst
	case word(text[j]) && !word(text[j-1]), unicode.IsUpper(text[j]) && unicode.IsLower(text[j-1]):
		return scoreStart
	}
	return 0
}

// A Match is an action that a query found.
type Match struct {
	Info
	Score int
	// InTitle and InDescription are the runes to be highlighted.
	InTitle, InDescription []int
}

// Find returns the actions that a query finds, the best first: the one whose
// title it is, then by score, and equally good ones in the order of the help. It looks at the title, then at the name as it
// stands in the settings. In a description, which is so long that scattered
// letters say nothing, it looks for whole words of the query, and these finds
// come last. An empty query finds all.
func Find(query string) []Match {
	var out []Match
	for _, info := range actions {
		match := Match{Info: info}
		var ok bool
		if match.Score, match.InTitle, ok = Score(query, info.Title); !ok {
			if match.Score, _, ok = Score(query, string(info.Action)); !ok {
				match.InDescription, ok = within(query, info.Description)
			}
		}
		if ok {
			out = append(out, match)
		}
	}
	if strings.TrimSpace(query) == "" {
		return out
	}
	whole := func(m Match) int {
		if strings.EqualFold(m.Title, strings.TrimSpace(query)) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b Match) int { return cmp.Or(whole(b)-whole(a), b.Score-a.Score) })
	return out
}

// within finds every word of a query in a text as it is, without regard to case,
// and returns the positions of its letters.
func within(query, text string) (positions []int, ok bool) {
	low := fold([]rune(text))
	for word := range strings.FieldsSeq(query) {
		letters := fold([]rune(word))
		at := 0
		for at+len(letters) <= len(low) && !slices.Equal(low[at:at+len(letters)], letters) {
			at++
		}
		if at+len(letters) > len(low) {
			return nil, false
		}
		for i := range letters {
			positions = append(positions, at+i)
		}
	}
	slices.Sort(positions)
	return slices.Compact(positions), true
}
