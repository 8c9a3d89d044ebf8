package fdmeter

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestStatIsReadWhateverTheNameHolds(t *testing.T) {
	for _, name := range []string{
		"sh", "", "a b", "tmux: server", ")", "(", ") S 1 1 1 (", "a) R 9 9", "\n", "x\x00y", "((sd-pam))",
	} {
		who, err := parseStat([]byte(statLine(42, 7, 40, name, 991)))
		if err != nil || who.Name != name || who.PID != 42 || who.Parent != 7 || who.Session != 40 || who.Birth != 991 || who.State != 'S' {
			t.Errorf("name %q: %+v, %v", name, who, err)
		}
	}
}

func TestAnyNameComesBackFromStat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOfN(rapid.Byte(), 0, 15).Draw(t, "name"))
		who, err := parseStat([]byte(statLine(1, 2, 3, name, 4)))
		if err != nil || who.Name != name || who.Birth != 4 {
			t.Fatalf("%q: %+v, %v", name, who, err)
		}
	})
}

func TestBrokenTextIsAnErrorNotAZero(t *testing.T) {
	for _, text := range []string{
		"", "42", "42 (sh", "42 sh) S 1", "(sh) S 1 1 1", "x (sh) S 1", "42 (sh) S 1 2 3", "42 (sh) S one 2 3 4 5 6",
	} {
		if who, err := parseStat([]byte(text)); !errors.Is(err, errFormat) {
			t.Errorf("stat %q: %+v, %v", text, who, err)
		}
	}
	for _, text := range []string{"", "Max open files", "Max open files 12", "Max open files x y files", "Max processes 1 2"} {
		if soft, hard, err := parseLimits([]byte(text)); !errors.Is(err, errFormat) {
			t.Errorf("limits %q: %v %v %v", text, soft, hard, err)
		}
	}
	if _, _, err := parseDetail([]byte("pos:\t0\n")); !errors.Is(err, errFormat) {
		t.Errorf("flags: %v", err)
	}
	if _, _, err := parseDetail([]byte("flags:\t9\n")); !errors.Is(err, errFormat) {
		t.Errorf("octal flags: %v", err)
	}
	if _, err := parseNumbers([]byte("1 2"), 3); !errors.Is(err, errFormat) {
		t.Errorf("numbers: %v", err)
	}
	if _, err := parseBoot([]byte("btime soon\n")); !errors.Is(err, errFormat) {
		t.Errorf("boot: %v", err)
	}
}

func TestLimitsReadUnlimited(t *testing.T) {
	soft, hard, err := parseLimits([]byte("Max open files            1024                 unlimited            files     \n"))
	if err != nil {
		t.Fatal(err)
	}
	wantKnown(t, "soft", soft, 1024)
	wantUnknown(t, "hard", hard, Unlimited)
	if hard.String() != "unlimited" {
		t.Errorf("hard reads %q", hard)
	}
}

func TestFileMaxBeyondInt64IsUnlimited(t *testing.T) {
	n, err := parseNumbers([]byte("1440 0 18446744073709551615\n"), 3)
	if err != nil || n[0] != 1440 {
		t.Fatal(n, err)
	}
	wantUnknown(t, "file-max", limitValue(uint64(n[2])), Unlimited)
}

func TestArgvIsSplitAtNULs(t *testing.T) {
	for text, want := range map[string][]string{
		"":                      nil,
		"\x00":                  nil,
		"sh\x00-c\x00x y\x00":   {"sh", "-c", "x y"},
		"nginx: master":         {"nginx: master"},
		"a\x00\x00b\x00":        {"a", "", "b"},
		"title\x00\x00\x00\x00": {"title"},
	} {
		if got := parseArgv([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q = %q, want %q", text, got, want)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte(statLine(1, 2, 3, "a) (b", 4)))
	f.Add([]byte("1 (a) R"))
	f.Fuzz(func(t *testing.T, text []byte) {
		who, err := parseStat(text)
		if err != nil && who != (Proc{}) {
			t.Errorf("an error came with %+v", who)
		}
		parseLimits(text)
		parseDetail(text)
		parseArgv(text)
		parseNumbers(text, 3)
	})
}
