package input

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// describe writes a token the way the tables of these tests do.
func describe(t Token) string {
	switch t.Kind {
	case KindKey:
		s := "key " + t.Key.String()
		s += [...]string{"", " repeat", " release"}[t.Key.Event]
		return s
	case KindMouse:
		m := t.Mouse
		return fmt.Sprintf("mouse %d of %d at %d,%d mods %d", m.Action, m.Button, m.X, m.Y, m.Mods)
	case KindReply:
		return fmt.Sprintf("reply %d num %d %v %q", t.Reply.Kind, t.Reply.Num, t.Reply.Params, t.Reply.Body)
	}
	return fmt.Sprintf("%v %q", t.Kind, t.Bytes)
}

// join puts together what may be cut differently when the reads are: typed
// characters, paste data, and Unknown, each with its own kind.
func join(tokens []Token) []string {
	var out []string
	var run []byte
	kind := KindUnknown
	flush := func() {
		if len(run) > 0 {
			out = append(out, fmt.Sprintf("%v %q", kind, run))
			run = nil
		}
	}
	for _, t := range tokens {
		k := t.Kind
		if k == KindKey && t.Key.Form == FormChar {
			k = KindText
		}
		switch k {
		case KindText, KindPasteData, KindUnknown:
			if k != kind {
				flush()
			}
			kind, run = k, append(run, t.Bytes...)
			continue
		}
		flush()
		out = append(out, describe(t)+fmt.Sprintf(" %q", t.Bytes))
	}
	flush()
	return out
}

// tokens feeds the pieces and returns copies of what came out, at last of what
// was held. It fails when the bytes do not add up.
func tokens(t interface {
	Helper()
	Errorf(string, ...any)
}, pieces ...[]byte,
) []Token {
	t.Helper()
	var z Tokenizer
	var got []Token
	var sum, want []byte
	keep := func(tok Token) {
		sum = append(sum, tok.Bytes...)
		tok.Bytes = bytes.Clone(tok.Bytes)
		tok.Reply.Body = bytes.Clone(tok.Reply.Body)
		got = append(got, tok)
	}
	for _, p := range pieces {
		p = bytes.Clone(p)
		want = append(want, p...)
		var batch []Token
		z.Feed(p, func(tok Token) { batch = append(batch, tok) })
		for _, tok := range batch { // valid until the next Feed
			keep(tok)
		}
		clear(p)
	}
	z.Finish(keep)
	if !bytes.Equal(sum, want) {
		t.Errorf("token bytes = %q, want %q", sum, want)
	}
	return got
}

func describeAll(got []Token) []string {
	var out []string
	for _, t := range got {
		out = append(out, describe(t))
	}
	return out
}

// vocabulary is one row for every kind of input that we name.
var vocabulary = []struct {
	in   string
	want string // tokens separated by " | "
}{
	{"a", "key a"},
	{"ä", "key ä"},
	{"ls -la ü 漢字", `text "ls -la ü 漢字"`},
	{"\x02q", "key ctrl+b | key q"},
	{"\x02%more", `key ctrl+b | text "%more"`},
	{"ls\r", `text "ls" | key enter`},
	{"\t\r\n\x7f\x08\x00", "key tab | key enter | key ctrl+j | key backspace | key ctrl+h | key ctrl+space"},
	{"\x1c\x1d\x1e\x1f", `key ctrl+\ | key ctrl+] | key ctrl+^ | key ctrl+_`},
	{"\x1b", "key esc"},
	{"\x1b\x1b", "key esc | key esc"},
	{"\x1ba\x1bB\x1bé", "key alt+a | key alt+shift+b | key alt+é"},
	{"\x1b\r\x1b\x7f\x1b\x02", "key alt+enter | key alt+backspace | key ctrl+alt+b"},
	{"\x1b\x1bx", "key esc | key alt+x"},
	{"\x1b\x1b[A\x1b\x1bOB", "key alt+up | key alt+down"},
	{"\x1b\x1b[200~x\x1b[201~", `key esc | paste start "\x1b[200~" | paste data "x" | paste end "\x1b[201~"`},
	{"\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F", "key up | key down | key right | key left | key home | key end"},
	{"\x1bOA\x1bOH\x1bOP\x1bOS", "key up | key home | key f1 | key f4"},
	{"\x1b[1;5A\x1b[1;2P\x1b[1;3R\x1b[1;8D", "key ctrl+up | key shift+f1 | key alt+f3 | key ctrl+alt+shift+left"},
	{"\x1b[2~\x1b[3;5~\x1b[5~\x1b[6;2~", "key insert | key ctrl+delete | key pgup | key shift+pgdown"},
	{"\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "key home | key end | key home | key end"},
	{"\x1b[11~\x1b[15~\x1b[24~\x1b[34~", "key f1 | key f5 | key f12 | key f20"},
	{"\x1b[[A\x1b[[E", "key f1 | key f5"},
	{"\x1b[Z", "key shift+tab"},
	{"\x1b[a\x1bOd\x1b[3$\x1b[3^\x1b[3@", "key shift+up | key ctrl+left | key shift+delete | key ctrl+delete | key ctrl+shift+delete"},
	{"\x1bO5A", "key ctrl+up"},
	{"\x1bOp\x1bOy\x1bOM\x1bOk", "key kp0 | key kp9 | key kpenter | key kp+"},
	{"\x1b[97u\x1b[97;5u\x1b[97:65;2u", "key a | key ctrl+a | key A"},
	{"\x1b[97;1:2u\x1b[97;1:3u", "key a repeat | key a release"},
	{"\x1b[53:37;2u\x1b[53:37;6u\x1b[97;6u", "key % | key ctrl+% | key ctrl+shift+a"},
	{"\x1b[1089::99;5u", "key ctrl+с"},
	{"\x1b[97;;228u\x1b[0;;228:246u", "key ä | key äö"},
	{"\x1b[27u\x1b[13;2u\x1b[9;5u\x1b[127;5u", "key esc | key shift+enter | key ctrl+tab | key ctrl+backspace"},
	{"\x1b[57399u\x1b[57427~\x1b[57376u\x1b[57441;2u", "key kp0 | key kpbegin | key f13 | key shift+key57441"},
	{"\x1b[1;1:3A\x1b[13;5~\x1b[3;1:2~", "key up release | key ctrl+f3 | key delete repeat"},
	{"\x1b[97;133u", "key ctrl+a"},
	{"\x1b[27;5;9~\x1b[27;6;65~\x1b[27;5;37~", "key ctrl+tab | key ctrl+shift+a | key ctrl+%"},
	{"\x1b[<0;3;5M\x1b[<0;3;5m", "mouse 1 of 1 at 2,4 mods 0 | mouse 2 of 1 at 2,4 mods 0"},
	{"\x1b[<35;1;1M\x1b[<32;1;2M", "mouse 3 of 0 at 0,0 mods 0 | mouse 3 of 1 at 0,1 mods 0"},
	{"\x1b[<64;9;9M\x1b[<65;9;9M\x1b[<129;300;400M", "mouse 1 of 4 at 8,8 mods 0 | mouse 1 of 5 at 8,8 mods 0 | mouse 1 of 9 at 299,399 mods 0"},
	{"\x1b[<28;1;1M", "mouse 1 of 1 at 0,0 mods 7"},
	{"\x1b[M !!\x1b[M#!!\x1b[M\xa0\xff\x21", "mouse 1 of 1 at 0,0 mods 0 | mouse 2 of 0 at 0,0 mods 0 | mouse 1 of 8 at 222,0 mods 0"},
	{"\x1b[32;5;6M\x1b[35;5;6M", "mouse 1 of 1 at 4,5 mods 0 | mouse 2 of 0 at 4,5 mods 0"},
	{"\x1b[I\x1b[O", `focus in "\x1b[I" | focus out "\x1b[O"`},
	{"\x1b[?62;22c", `reply 1 num 0 [62 22] ""`},
	{"\x1b[>41;354;0c", `reply 2 num 0 [41 354 0] ""`},
	{"\x1bP!|00000000\x1b\\", `reply 3 num 0 [] "00000000"`},
	{"\x1b[?2026;2$y\x1b[4;1$y", `reply 4 num 2026 [2026 2] "" | reply 5 num 4 [4 1] ""`},
	{"\x1b[?5;10R\x1b[5;10R\x1b[1;80R", `reply 6 num 0 [5 10] "" | reply 6 num 0 [5 10] "" | reply 6 num 0 [1 80] ""`},
	{"\x1b[0n\x1b[?997;1n", `reply 7 num 0 [0] "" | reply 8 num 0 [997 1] ""`},
	{"\x1b[?5u", `reply 9 num 0 [5] ""`},
	{"\x1b[48;24;80;480;800t\x1b[4;600;800t", `reply 10 num 0 [48 24 80 480 800] "" | reply 11 num 4 [4 600 800] ""`},
	{"\x1b[>4;2m\x1b[?2;0;800;600S", `reply 12 num 4 [4 2] "" | reply 13 num 2 [2 0 800 600] ""`},
	{"\x1b]11;rgb:0000/1111/2222\x1b\\", `reply 15 num 11 [] "rgb:0000/1111/2222"`},
	{"\x1b]4;7;rgb:ff/ff/ff\x07\x1b]52;c;aGk=\x07", `reply 15 num 4 [] "7;rgb:ff/ff/ff" | reply 15 num 52 [] "c;aGk="`},
	{"\x1bP>|xterm(390)\x1b\\", `reply 16 num 0 [] "xterm(390)"`},
	{"\x1bP1+r544e=787465726d\x1b\\", `reply 17 num 0 [1] "544e=787465726d"`},
	{"\x1bP1$r0m\x1b\\", `reply 18 num 0 [1] "0m"`},
	{"\x1b_Gi=1;OK\x1b\\", `reply 20 num 0 [] "i=1;OK"`},
	{"\x1bPls\r", `key alt+shift+p | text "ls" | key enter`},
	{"\x1b]x\x1b_y\x1b[\x1b", `key alt+] | key x | key alt+_ | key y | key alt+[ | key esc`},
	{"\x1b]11;rgb\x02q", `unknown "\x1b]11;rgb" | key ctrl+b | key q`},
	{"\x1b]11;rgb\x1b[A", `unknown "\x1b]11;rgb" | key up`},
	{"\x1b[12\x03", `unknown "\x1b[12" | key ctrl+c`},
	{"\x1b[99~\x1b[201~\x1b[5z", `unknown "\x1b[99~" | unknown "\x1b[201~" | unknown "\x1b[5z"`},
	{"\xffa\xc3(", `unknown "\xff" | key a | unknown "\xc3" | key (`},
	{"\xc2\x85\xe0\xa0", "unknown \"\\u0085\" | unknown \"\\xe0\\xa0\""},
	{"\x1b[200~a\x00\xff\x1b[31md\re\n\x1b[201\x1b[201~z", `paste start "\x1b[200~" | paste data "a\x00\xff\x1b[31md\re\n\x1b[201" | paste end "\x1b[201~" | key z`},
}

func TestEveryKnownInputHasItsName(t *testing.T) {
	for _, row := range vocabulary {
		if got := strings.Join(describeAll(tokens(t, []byte(row.in))), " | "); got != row.want {
			t.Errorf("%q\n got %s\nwant %s", row.in, got, row.want)
		}
	}
}

func TestASplitAtAnyByteChangesNothing(t *testing.T) {
	var all []byte
	for _, row := range vocabulary {
		in := []byte(row.in)
		all = append(all, in...)
		want := strings.Join(join(tokens(t, in)), "\n")
		for i := 1; i < len(in); i++ {
			if got := strings.Join(join(tokens(t, in[:i], in[i:])), "\n"); got != want {
				t.Errorf("%q split at %d\n got %s\nwant %s", in, i, got, want)
			}
		}
		if got := strings.Join(join(tokens(t, singles(in)...)), "\n"); got != want {
			t.Errorf("%q byte by byte\n got %s\nwant %s", in, got, want)
		}
	}
	want := strings.Join(join(tokens(t, all)), "\n")
	if got := strings.Join(join(tokens(t, singles(all)...)), "\n"); got != want {
		t.Errorf("all rows byte by byte\n got %s\nwant %s", got, want)
	}
}

func singles(in []byte) [][]byte {
	var out [][]byte
	for i := range in {
		out = append(out, in[i:i+1])
	}
	return out
}

func TestRandomInputIsKeptToTheByteUnderAnySplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) string { return rapid.SampledFrom(vocabulary).Draw(t, "row").in }),
			rapid.SampledFrom([]string{"\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1bO", "\x1b[200~", "\x1b[201~", ";", "1", "~", "\x1b\\", "\xe2\x82"}),
			rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "bytes")) }),
		)
		in := []byte(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), ""))
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(in)), 0, 6).Draw(t, "cuts")
		checkSplit(t, in, cuts)
	})
}

// checkSplit compares the input fed whole with the input fed in pieces.
func checkSplit(t interface {
	Helper()
	Errorf(string, ...any)
}, in []byte, cuts []int,
) {
	t.Helper()
	var pieces [][]byte
	rest := in
	for _, c := range cuts {
		c = min(c, len(rest))
		pieces, rest = append(pieces, rest[:c]), rest[c:]
	}
	pieces = append(pieces, rest)
	whole, split := join(tokens(t, in)), join(tokens(t, pieces...))
	if strings.Join(whole, "\n") != strings.Join(split, "\n") {
		t.Errorf("%q cut at %v\n got %q\nwant %q", in, cuts, split, whole)
	}
}

func FuzzTokenizer(f *testing.F) {
	for _, row := range vocabulary {
		f.Add([]byte(row.in), uint64(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var cuts []int
		for range rng.IntN(8) {
			cuts = append(cuts, rng.IntN(len(in)+1))
		}
		checkSplit(t, in, cuts)
		for _, tok := range tokens(t, in) {
			for _, m := range modeSamples {
				Translate(nil, tok, OuterModes{}, m)
			}
		}
	})
}

func TestOnlyALoneEscapeIsPending(t *testing.T) {
	for in, want := range map[string]bool{
		"": false, "a": false, "\x1b": true, "x\x1b": true, "\x1b\x1b": true, "\x1b\x1b\x1b": true,
		"\x1b[": false, "\x1b[1;5": false, "\x1bO": false, "\x1b]11;": false, "\x1bP": false, "\x1b\x1b[": false,
		"\xe2\x82": false, "\x1b[200~": false, "\x1b[200~\x1b": false, "\x1b[200~\x1b[201": false,
	} {
		var z Tokenizer
		z.Feed([]byte(in), func(Token) {})
		if z.Pending() != want {
			t.Errorf("%q: pending = %v, want %v", in, z.Pending(), want)
		}
		held := z.Held()
		var got []Token
		z.Flush(func(tok Token) { got = append(got, tok) })
		switch {
		case want && (len(got) == 0 || got[0].Key.Code != KeyEscape || z.Held() != 0):
			t.Errorf("%q: flush gave %v and held %d bytes back", in, describeAll(got), z.Held())
		case !want && (len(got) != 0 || z.Held() != held):
			t.Errorf("%q: flush released what was not pending: %v", in, describeAll(got))
		}
	}
}

func TestAnUnterminatedReplyIsBoundedAndCounted(t *testing.T) {
	var z Tokenizer
	var out, in int
	count := func(tok Token) {
		out += len(tok.Bytes)
		if tok.Kind != KindUnknown {
			t.Errorf("token %s of an oversized reply", describe(tok))
		}
	}
	feed := func(s string) {
		in += len(s)
		z.Feed([]byte(s), count)
	}
	feed("\x1b]52;c;")
	chunk := strings.Repeat("A", 4096)
	for range 3 * maxString / len(chunk) {
		feed(chunk)
		if z.Held() > maxString {
			t.Fatalf("held %d bytes, limit %d", z.Held(), maxString)
		}
	}
	feed("\x1b\\")
	if out != in || z.Held() != 0 || z.Stats().Oversized != 1 {
		t.Errorf("out %d of %d bytes, held %d, stats %+v", out, in, z.Held(), z.Stats())
	}
	var after []Token
	z.Feed([]byte("q"), func(tok Token) { after = append(after, tok) })
	if len(after) != 1 || after[0].Key.Code != 'q' {
		t.Errorf("after the oversized reply q is %v", describeAll(after))
	}
}

func TestAnOversizedSequenceEndsAtItsFinalByteOrAControl(t *testing.T) {
	for _, body := range []string{"\x1b[" + strings.Repeat("1;", maxCSI), "\x1b]11;" + strings.Repeat("x", maxString)} {
		final := "~"
		if body[1] == ']' {
			final = "\x07"
		}
		for end, want := range map[string]string{final + "q": "key q", "\x02q": "key ctrl+b|key q", "\x1b[A": "key up"} {
			whole := tokens(t, []byte(body+end))
			split := tokens(t, []byte(body[:len(body)-1]), []byte(body[len(body)-1:]), []byte(end[:1]), []byte(end[1:]))
			for _, got := range [][]Token{whole, split} {
				var named []string
				for _, tok := range got {
					if tok.Kind != KindUnknown {
						named = append(named, describe(tok))
					}
				}
				if strings.Join(named, "|") != want {
					t.Errorf("%q… then %q: %q, want %s", body[:4], end, named, want)
				}
			}
		}
	}
}

func TestAReplyFedByteByByteIsSearchedOnce(t *testing.T) {
	// Quadratic work on a reply of this size would be 2^38 steps: this test
	// would not end.
	var z Tokenizer
	in := []byte("\x1b]52;c;" + strings.Repeat("A", maxString/2) + "\x07")
	var got []Token
	for i := range in {
		z.Feed(in[i:i+1], func(tok Token) { got = append(got, tok) })
	}
	if len(got) != 1 || got[0].Reply.Num != 52 || len(got[0].Bytes) != len(in) {
		t.Errorf("got %d tokens", len(got))
	}
}

func TestABurstIsOneTokenAndCutTakesKeysFromIt(t *testing.T) {
	got := tokens(t, []byte("qué"))
	if len(got) != 1 || got[0].Kind != KindText {
		t.Fatalf("burst = %v", describeAll(got))
	}
	first, rest, more := got[0].Cut()
	if describe(first) != "key q" || describe(rest) != `text "ué"` || !more {
		t.Errorf("cut = %s, %s, %v", describe(first), describe(rest), more)
	}
	var keys []string
	for k := range got[0].Keys() {
		keys = append(keys, describe(k))
	}
	if strings.Join(keys, "|") != "key q|key u|key é" {
		t.Errorf("keys = %q", keys)
	}
}

func TestACharacterOfThePrivateAreaIsNotAKey(t *testing.T) {
	got := tokens(t, []byte("\ue004"))
	if len(got) != 1 || got[0].Key.Code == KeyInsert || got[0].Key.Text != "\ue004" {
		t.Errorf("U+E004 = %v", describeAll(got))
	}
}

func BenchmarkTokenizer(b *testing.B) {
	for name, in := range map[string]string{
		"paste":  "\x1b[200~" + strings.Repeat("some text\r\xff\x1b[31m", 1000) + "\x1b[201~",
		"typing": strings.Repeat("a\x02\x1b[A\x1b[97;5u", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			var z Tokenizer
			p := []byte(in)
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				z.Feed(p, func(Token) {})
			}
		})
	}
}
