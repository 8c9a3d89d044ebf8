package keymap

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestThePaletteFindsWhatIsMeant(t *testing.T) {
	for _, test := range []struct {
		query string
		want  []Action // the first ones
	}{
		{"spl", []Action{SplitRight, SplitDown}},
		{"right split", []Action{SplitRight}},
		{"sr", []Action{SplitRight}},
		{"SPLIT D", []Action{SplitDown}},
		{"new-tab", []Action{NewTab}},
		{"tab 3", []Action{Tab3}},
		{"fd", []Action{PanelFDs}},
		{"vi's", []Action{CopyMode}},
		{"$editor", []Action{OpenInEditor}},
		{"qxz", nil},
	} {
		var got []Action
		for _, m := range Find(test.query) {
			got = append(got, m.Action)
		}
		if len(got) < len(test.want) || !slices.Equal(got[:len(test.want)], test.want) || test.want == nil && got != nil {
			t.Errorf("%q finds %v, want %v first", test.query, got, test.want)
		}
	}
	all := Find("  ")
	if len(all) != len(actions) || all[0].Action != actions[0].Action || all[len(all)-1].Action != Quit {
		t.Errorf("an empty query finds %d of %d", len(all), len(actions))
	}
}

func TestTheHighlightedLettersAreThoseOfTheQuery(t *testing.T) {
	for _, test := range []struct{ query, text, want string }{
		{"spl", "Split right", "[Spl]it right"},
		{"sr", "Split right", "[S]plit [r]ight"},
		{"right spl", "Split right", "[Spl]it [right]"},
		{"nt", "Next tab", "[N]ext [t]ab"},
		{"tab", "New tab or tabs", "New [tab] or tabs"},
		{"öff", "Datei Öffnen", "Datei [Öff]nen"},
		{"aa", "a-b-a", "[a]-b-[a]"},
		{"", "x", "x"},
	} {
		_, at, ok := Score(test.query, test.text)
		if got := highlight(test.text, at); !ok || got != test.want {
			t.Errorf("%q in %q: %q, want %q", test.query, test.text, got, test.want)
		}
	}
	for _, m := range Find("vi's") {
		if m.InTitle != nil || !strings.Contains(highlight(m.Description, m.InDescription), "[vi's]") {
			t.Errorf("%q %v %v", m.Description, m.InTitle, m.InDescription)
		}
	}
}

// highlight puts brackets around the runs of marked runes.
func highlight(text string, at []int) string {
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		marked := slices.Contains(at, i)
		if marked && !slices.Contains(at, i-1) {
			b.WriteByte('[')
		}
		b.WriteRune(r)
		if marked && !slices.Contains(at, i+1) {
			b.WriteByte(']')
		}
	}
	return b.String()
}

// slowScore tries every alignment of a word.
func slowScore(word, text []rune, at []int) (int, bool) {
	if len(at) == len(word) {
		score := 0
		for i, j := range at {
			score += scoreLetter + bonus(text, j)
			if i > 0 {
				score += step(j - at[i-1] - 1)
			}
		}
		return score, true
	}
	first, best, found := 0, 0, false
	if len(at) > 0 {
		first = at[len(at)-1] + 1
	}
	for j := first; j < len(text); j++ {
		if fold([]rune{text[j]})[0] != word[len(at)] {
			continue
		}
		if s, ok := slowScore(word, text, append(slices.Clone(at), j)); ok && (!found || s > best) {
			best, found = s, true
		}
	}
	return best, found
}

func TestTheScoreIsThatOfTheBestOfAllAlignments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abö]{1,4}`).Draw(t, "word")
		text := rapid.StringMatching(`[abAB ö-]{0,14}`).Draw(t, "text")
		got, at, ok := Score(word, text)
		want, found := slowScore([]rune(word), []rune(text), nil)
		if ok != found || got != want {
			t.Fatalf("%q in %q: %d, %v, want %d, %v", word, text, got, ok, want, found)
		}
		if !ok {
			return
		}
		var letters []rune
		for _, j := range at {
			letters = append(letters, []rune(text)[j])
		}
		if string(fold(letters)) != word {
			t.Fatalf("%q in %q: the marked letters are %q", word, text, string(letters))
		}
	})
}

func TestAnyQueryOnAnyTextIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		query, text := rapid.String().Draw(t, "query"), rapid.String().Draw(t, "text")
		_, at, ok := Score(query, text)
		if n := len([]rune(text)); len(at) > 0 && (!ok || at[0] < 0 || at[len(at)-1] >= n || !slices.IsSorted(at)) {
			t.Fatalf("positions %v of %d", at, n)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		Find("right split")
	}
}
