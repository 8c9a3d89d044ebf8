package input

import (
	"bytes"
	"strings"
	"testing"
)

// child feeds pieces through tokenizer and Translate, a lone ESC flushed at
// the end, and returns what the child gets.
func child(t *testing.T, outer OuterModes, m ChildModes, pieces ...string) string {
	t.Helper()
	var z Tokenizer
	var out []byte
	emit := func(tok Token) { out = Translate(out, tok, outer, m) }
	for _, p := range pieces {
		z.Feed([]byte(p), emit)
	}
	z.Flush(emit)
	return string(out)
}

// TestNothingThatBubbleTeaLosesIsLost has one row for each row of the
// comparison that made us read the terminal ourselves.
func TestNothingThatBubbleTeaLosesIsLost(t *testing.T) {
	sgr := ChildModes{Mouse: MouseClicks, MouseEncoding: MouseSGR, Area: Area{0, 0, 80, 24}}
	pasting := ChildModes{BracketedPaste: true}
	kitty := 1 | KittyEvents | KittyAllKeys | KittyText
	paste := "a\x00b\xffc\x1b[31md\re\nf"
	for name, row := range map[string]struct {
		outer  OuterModes
		m      ChildModes
		pieces []string
		want   string
	}{
		"CSI split after its introducer":      {OuterModes{}, ChildModes{}, []string{"\x1b[", "1;5A"}, "\x1b[1;5A"},
		"mouse report split":                  {OuterModes{}, sgr, []string{"\x1b[<0;1", "7;7M"}, "\x1b[<0;17;7M"},
		"mouse report split, none asked":      {OuterModes{}, ChildModes{}, []string{"\x1b[<0;1", "7;7M"}, ""},
		"paste terminator split":              {OuterModes{}, pasting, []string{"\x1b[200~x\x1b[20", "1~", "ls\r"}, "\x1b[200~x\x1b[201~ls\r"},
		"paste terminator split after ESC":    {OuterModes{}, pasting, []string{"\x1b[200~x\x1b", "[201~", "ls\r"}, "\x1b[200~x\x1b[201~ls\r"},
		"character split":                     {OuterModes{}, ChildModes{}, []string{"\xe6\xbc", "\xa2"}, "漢"},
		"kitty key":                           {OuterModes{KittyFlags: 1}, ChildModes{KittyFlags: 1}, []string{"\x1b[98;5u"}, "\x1b[98;5u"},
		"kitty release and text":              {OuterModes{KittyFlags: kitty}, ChildModes{KittyFlags: kitty}, []string{"\x1b[97;;97u\x1b[97;1:3u"}, "\x1b[97;;97u\x1b[97;1:3u"},
		"kitty release, none asked":           {OuterModes{KittyFlags: kitty}, ChildModes{}, []string{"\x1b[97;;97u\x1b[97;1:3u"}, "a"},
		"release from a terminal that denies": {OuterModes{KittyFlags: 1}, ChildModes{KittyFlags: 1}, []string{"\x1b[97;5u\x1b[97;5:3u"}, "\x1b[97;5u"},
		"modifyOtherKeys":                     {OuterModes{ModifyOtherKeys: 2}, ChildModes{ModifyOtherKeys: 2}, []string{"\x1b[27;5;9~"}, "\x1b[27;5;9~"},
		"OSC reply":                           {OuterModes{}, ChildModes{}, []string{"\x1b]11;rgb:0/0/0\x1b\\"}, ""},
		"OSC 52 reply":                        {OuterModes{}, ChildModes{}, []string{"\x1b]52;c;aGk=\x07"}, ""},
		"DCS reply":                           {OuterModes{}, ChildModes{}, []string{"\x1bP>|term\x1b\\"}, ""},
		"APC reply":                           {OuterModes{}, ChildModes{}, []string{"\x1b_Gi=1;OK\x1b\\"}, ""},
		"unknown CSI":                         {OuterModes{}, ChildModes{}, []string{"\x1b[5", "z"}, "\x1b[5z"},
		"invalid byte":                        {OuterModes{}, ChildModes{}, []string{"\xff"}, "\xff"},
		"binary paste":                        {OuterModes{}, pasting, []string{"\x1b[200~" + paste + "\x1b[201~"}, "\x1b[200~" + paste + "\x1b[201~"},
		"binary paste, no brackets":           {OuterModes{}, ChildModes{}, []string{"\x1b[200~" + paste + "\x1b[201~"}, paste},
		"pixel mouse":                         {OuterModes{}, ChildModes{Mouse: MouseClicks, MouseEncoding: MousePixels, Area: Area{10, 2, 80, 20}, CellW: 8, CellH: 16}, []string{"\x1b[<0;11;3M"}, "\x1b[<0;5;9M"},
		"raw cursor form":                     {OuterModes{}, ChildModes{}, []string{"\x1b[A\x1b[1~"}, "\x1b[A\x1b[1~"},
		"application cursor":                  {OuterModes{}, ChildModes{AppCursor: true}, []string{"\x1b[A"}, "\x1bOA"},
		"application cursor outside":          {OuterModes{AppCursor: true}, ChildModes{}, []string{"\x1bOA"}, "\x1b[A"},
		"tab is tab":                          {OuterModes{}, ChildModes{}, []string{"\t"}, "\t"},
		"ctrl+i is not tab":                   {OuterModes{KittyFlags: 1}, ChildModes{KittyFlags: 1}, []string{"\x1b[105;5u"}, "\x1b[105;5u"},
		"ctrl+i for a child that has none":    {OuterModes{KittyFlags: 1}, ChildModes{}, []string{"\x1b[105;5u"}, "\t"},
		"typed burst":                         {OuterModes{}, ChildModes{}, []string{"hello wörld\r"}, "hello wörld\r"},
		"lone ESC":                            {OuterModes{}, ChildModes{}, []string{"\x1b"}, "\x1b"},
		"ESC for a kitty child":               {OuterModes{}, ChildModes{KittyFlags: 1}, []string{"\x1b"}, "\x1b[27u"},
		"kitty ESC for a legacy child":        {OuterModes{KittyFlags: 1}, ChildModes{}, []string{"\x1b[27u"}, "\x1b"},
		"keypad":                              {OuterModes{AppKeypad: true}, ChildModes{}, []string{"\x1bOu"}, "5"},
		"keypad application":                  {OuterModes{KittyFlags: kitty}, ChildModes{AppKeypad: true}, []string{"\x1b[57404;129;53u"}, "\x1bOu"},
		"num lock is no modifier":             {OuterModes{KittyFlags: 1}, ChildModes{}, []string{"\x1b[1;129A"}, "\x1b[A"},
		"focus, none asked":                   {OuterModes{}, ChildModes{}, []string{"\x1b[I\x1b[O"}, ""},
		"focus":                               {OuterModes{}, ChildModes{Focus: true}, []string{"\x1b[I\x1b[O"}, "\x1b[I\x1b[O"},
		"text for all-keys child":             {OuterModes{}, ChildModes{KittyFlags: 9}, []string{"aB"}, "\x1b[97u\x1b[98;2u"},
		"kitty from a terminal that denies": {
			OuterModes{},
			ChildModes{},
			[]string{"\x1b[98;5u\x1b[98;5:3u\x1b[27;5;98~"},
			"\x02\x02",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := child(t, row.outer, row.m, row.pieces...); got != row.want {
				t.Errorf("child gets %q, want %q", got, row.want)
			}
			whole := strings.Join(row.pieces, "")
			for i := 1; i < len(whole); i++ {
				if got := child(t, row.outer, row.m, whole[:i], whole[i:]); got != row.want {
					t.Errorf("split at %d: child gets %q, want %q", i, got, row.want)
				}
			}
		})
	}
}

func TestSameModesPassEveryTokenAsItCame(t *testing.T) {
	for _, row := range vocabulary {
		for _, tok := range tokens(t, []byte(row.in)) {
			switch tok.Kind {
			case KindMouse, KindReply:
				continue
			}
			outer := OuterModes{}
			m := ChildModes{BracketedPaste: true, Focus: true}
			if tok.Key.Form == FormKitty || tok.Key.Form == FormOther {
				outer.KittyFlags = KittyDisambiguate | KittyEvents | KittyAlternates | KittyAllKeys | KittyText
				m.KittyFlags = outer.KittyFlags
			}
			if got := Translate(nil, tok, outer, m); !bytes.Equal(got, tok.Bytes) {
				t.Errorf("%s %q reaches the child as %q", describe(tok), tok.Bytes, got)
			}
		}
	}
}

func TestMouseIsReportedInTheChildsOwnTerms(t *testing.T) {
	press := Mouse{X: 12, Y: 5, Button: ButtonLeft, Action: ActionPress}
	with := func(f func(*Mouse)) Mouse { m := press; f(&m); return m }
	release := with(func(m *Mouse) { m.Action = ActionRelease })
	drag := with(func(m *Mouse) { m.Action = ActionMotion })
	move := with(func(m *Mouse) { m.Action, m.Button = ActionMotion, ButtonNone })
	wheel := with(func(m *Mouse) { m.Button = WheelDown })
	far := with(func(m *Mouse) { m.X = 310 })
	pixels := with(func(m *Mouse) { m.X, m.Y, m.Pixels = 100, 90, true })
	for _, row := range []struct {
		ev   Mouse
		mode MouseMode
		enc  MouseEncoding
		want string
	}{
		{press, MouseOff, MouseSGR, ""},
		{press, MouseX10, MouseBytes, "\x1b[M #$"},
		{release, MouseX10, MouseBytes, ""},
		{wheel, MouseX10, MouseBytes, ""},
		{press, MouseClicks, MouseSGR, "\x1b[<0;3;4M"},
		{release, MouseClicks, MouseSGR, "\x1b[<0;3;4m"},
		{release, MouseClicks, MouseBytes, "\x1b[M##$"},
		{press, MouseClicks, MouseURXVT, "\x1b[32;3;4M"},
		{release, MouseClicks, MouseURXVT, "\x1b[35;3;4M"},
		{wheel, MouseClicks, MouseSGR, "\x1b[<65;3;4M"},
		{drag, MouseClicks, MouseSGR, ""},
		{drag, MouseDrags, MouseSGR, "\x1b[<32;3;4M"},
		{move, MouseDrags, MouseSGR, ""},
		{move, MouseAll, MouseSGR, "\x1b[<35;3;4M"},
		{far, MouseClicks, MouseBytes, ""},
		{far, MouseClicks, MouseUTF8, "\x1b[M \u014d$"},
		{far, MouseClicks, MouseSGR, "\x1b[<0;301;4M"},
		{press, MouseClicks, MousePixels, "\x1b[<0;21;57M"},
		{pixels, MouseClicks, MousePixels, "\x1b[<0;21;59M"},
		{pixels, MouseClicks, MouseSGR, "\x1b[<0;3;4M"},
		{with(func(m *Mouse) { m.Mods = ModCtrl | ModShift }), MouseClicks, MouseSGR, "\x1b[<20;3;4M"},
		{with(func(m *Mouse) { m.Mods = ModCtrl }), MouseX10, MouseBytes, "\x1b[M #$"},
		{with(func(m *Mouse) { m.X = 9 }), MouseAll, MouseSGR, ""},
		{with(func(m *Mouse) { m.Y = 200 }), MouseAll, MouseSGR, ""},
		{with(func(m *Mouse) { m.Y = 200 }).Clamp(Area{10, 2, 400, 20}), MouseAll, MouseSGR, "\x1b[<0;3;20M"},
	} {
		m := ChildModes{Mouse: row.mode, MouseEncoding: row.enc, CellW: 8, CellH: 16}
		if got := EncodeMouse(nil, row.ev, m, 10, 2, 400, 20); string(got) != row.want || row.want == "" && got != nil {
			t.Errorf("%+v in mode %d encoding %d = %q, want %q", row.ev, row.mode, row.enc, got, row.want)
		}
	}
}
