package checkpoint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiffSaysWhatChangedSince(t *testing.T) {
	b := newBench(t, Limits{})
	path := b.file("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	e := b.keep(path)
	if d, err := b.Diff(anyPolicy(), e.ID); err != nil || !d.Same || d.Unified != "" || d.SHA256 != e.SHA256 {
		t.Errorf("same = %+v, %v", d, err)
	}
	b.file("a", "1\n2\n3\n4\nfive\n6\n7\n8\n9")
	d, err := b.Diff(anyPolicy(), e.ID)
	want := "--- checkpoint " + e.ID + "\n+++ now\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n-9\n+9\n\\ No newline at end of file\n"
	if err != nil || d.Same || d.Coarse || d.Unified != want {
		t.Errorf("diff = %v\n%s\nwant\n%s", err, d.Unified, want)
	}
	b.file("a", "\x00\x01")
	if d, err := b.Diff(anyPolicy(), e.ID); err != nil || d.Unified != "" || d.Why != "not text" || d.Size != 2 || len(d.SHA256) != 64 {
		t.Errorf("binary = %+v, %v", d, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if d, err := b.Diff(anyPolicy(), e.ID); err != nil || !d.Absent || d.Size != -1 || d.Same {
		t.Errorf("absent = %+v, %v", d, err)
	}
}

// apply makes the new text of the old one and a unified difference with all
// lines in it.
func apply(edits []edit) (a, b string) {
	for _, e := range edits {
		if e.op != '+' {
			a += e.line
		}
		if e.op != '-' {
			b += e.line
		}
	}
	return a, b
}

// longestCommon is the slow reference: how many lines two texts share in
// order.
func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			was := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = was
		}
	}
	return row[len(b)]
}

func genLines() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "dd\n"}), 0, 25).Draw(t, "lines")
		return strings.Join(lines, "") + rapid.SampledFrom([]string{"", "end"}).Draw(t, "end")
	})
}

func TestComparisonIsRightAndShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genLines().Draw(t, "a"), genLines().Draw(t, "b")
		edits, coarse := compareLines(splitLines(a), splitLines(b))
		if gotA, gotB := apply(edits); gotA != a || gotB != b || coarse {
			t.Fatalf("edits give %q and %q, coarse %v", gotA, gotB, coarse)
		}
		same := 0
		for _, e := range edits {
			if e.op == ' ' {
				same++
			}
		}
		if want := longestCommon(splitLines(a), splitLines(b)); same != want {
			t.Fatalf("%d lines kept, %d are possible", same, want)
		}
	})
}

func TestPatchAcceptsTheDifference(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("no patch program here")
	}
	dir := t.TempDir()
	for _, c := range [][2]string{
		{"a\nb\nc\n", "a\nc\n"}, {"", "x\n"}, {"x\n", ""}, {"a\n", "a"}, {"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n"},
	} {
		text, _ := unified(c[0], c[1], "old", "new")
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte(c[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "-s", file)
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v %s\n%s", c, err, out, text)
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != c[1] {
			t.Errorf("%q: patched to %q\n%s", c, got, text)
		}
	}
}

func TestVeryDifferentTextsAreReplacedInOnePieceAndThatIsSaid(t *testing.T) {
	var a, b strings.Builder
	for range maxEdits {
		a.WriteString("old\n")
		b.WriteString("new\n")
	}
	text, coarse := unified("same\n"+a.String(), "same\n"+b.String(), "x", "y")
	if !coarse || strings.Count(text, "\n-old") != maxEdits || strings.Count(text, "\n+new") != maxEdits {
		t.Errorf("coarse = %v, %d and %d lines", coarse, strings.Count(text, "\n-old"), strings.Count(text, "\n+new"))
	}
}
