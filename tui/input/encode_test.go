package input

import (
	"testing"

	"pgregory.net/rapid"
)

// modeSamples are children of every kind, for properties and the fuzzer.
var modeSamples = []ChildModes{
	{},
	{AppCursor: true, AppKeypad: true, BackspaceBS: true, Newline: true},
	{BracketedPaste: true, Focus: true, Mouse: MouseAll, MouseEncoding: MouseSGR, Area: Area{0, 0, 80, 24}},
	{Mouse: MouseClicks, Area: Area{3, 2, 80, 24}},
	{Mouse: MouseAll, MouseEncoding: MousePixels, Area: Area{0, 0, 80, 24}, CellW: 8, CellH: 16},
	{ModifyOtherKeys: 1},
	{ModifyOtherKeys: 2},
	{KittyFlags: KittyDisambiguate},
	{KittyFlags: KittyEvents},
	{KittyFlags: KittyDisambiguate | KittyEvents | KittyAlternates | KittyAllKeys | KittyText},
}

func TestKeysAreSpelledAsXtermDoes(t *testing.T) {
	app := ChildModes{AppCursor: true, AppKeypad: true}
	for _, row := range []struct {
		key  Key
		m    ChildModes
		want string
	}{
		{Key{Code: 'a'}, ChildModes{}, "a"},
		{Key{Code: 'a', Mods: ModShift}, ChildModes{}, "A"},
		{Key{Code: 'a', Mods: ModCapsLock | ModNumLock}, ChildModes{}, "A"},
		{Key{Code: '5', Shifted: '%', Mods: ModShift}, ChildModes{}, "%"},
		{Key{Code: 'a', Text: "ä"}, ChildModes{}, "ä"},
		{Key{Code: 0, Text: "漢字"}, ChildModes{}, "漢字"},
		{Key{Code: 'a', Mods: ModCtrl}, ChildModes{}, "\x01"},
		{Key{Code: 'a', Mods: ModCtrl | ModShift}, ChildModes{}, "\x01"},
		{Key{Code: 'a', Mods: ModCtrl | ModAlt}, ChildModes{}, "\x1b\x01"},
		{Key{Code: 'a', Mods: ModAlt | ModShift}, ChildModes{}, "\x1bA"},
		{Key{Code: 'с', Base: 'c', Mods: ModCtrl}, ChildModes{}, "\x03"},
		{Key{Code: KeySpace, Mods: ModCtrl}, ChildModes{}, "\x00"},
		{Key{Code: '/', Mods: ModCtrl}, ChildModes{}, "\x1f"},
		{Key{Code: '[', Mods: ModCtrl}, ChildModes{}, "\x1b"},
		{Key{Code: '3', Mods: ModCtrl}, ChildModes{}, "\x1b"},
		{Key{Code: '-', Shifted: '_', Mods: ModCtrl | ModShift}, ChildModes{}, "\x1f"},
		{Key{Code: '1', Mods: ModCtrl}, ChildModes{}, "1"},
		{Key{Code: 'a', Mods: ModSuper}, ChildModes{}, ""},
		{Key{Code: 'a', Event: Release}, ChildModes{}, ""},
		{Key{Code: 'a', Event: Repeat}, ChildModes{}, "a"},
		{Key{Code: KeyLeftShift}, ChildModes{}, ""},
		{Key{Code: KeyMediaPlay}, ChildModes{}, ""},
		{Key{Code: KeyEnter}, ChildModes{}, "\r"},
		{Key{Code: KeyEnter}, ChildModes{Newline: true}, "\r\n"},
		{Key{Code: KeyEnter, Mods: ModAlt}, ChildModes{}, "\x1b\r"},
		{Key{Code: KeyTab, Mods: ModShift}, ChildModes{}, "\x1b[Z"},
		{Key{Code: KeyEscape, Mods: ModAlt}, ChildModes{}, "\x1b\x1b"},
		{Key{Code: KeyBackspace}, ChildModes{}, "\x7f"},
		{Key{Code: KeyBackspace}, ChildModes{BackspaceBS: true}, "\x08"},
		{Key{Code: KeyBackspace, Mods: ModCtrl}, ChildModes{}, "\x08"},
		{Key{Code: KeyBackspace, Mods: ModCtrl}, ChildModes{BackspaceBS: true}, "\x7f"},
		{Key{Code: KeyUp}, ChildModes{}, "\x1b[A"},
		{Key{Code: KeyUp}, app, "\x1bOA"},
		{Key{Code: KeyUp, Mods: ModCtrl}, app, "\x1b[1;5A"},
		{Key{Code: KeyHome}, app, "\x1bOH"},
		{Key{Code: KeyKPLeft}, app, "\x1bOD"},
		{Key{Code: KeyF1}, ChildModes{}, "\x1bOP"},
		{Key{Code: KeyF1 + 2, Mods: ModShift}, ChildModes{}, "\x1b[1;2R"},
		{Key{Code: KeyF1 + 4}, ChildModes{}, "\x1b[15~"},
		{Key{Code: KeyDelete, Mods: ModCtrl}, ChildModes{}, "\x1b[3;5~"},
		{Key{Code: KeyKP0 + 5}, ChildModes{}, "5"},
		{Key{Code: KeyKP0 + 5}, app, "\x1bOu"},
		{Key{Code: KeyKPEnter}, ChildModes{}, "\r"},
		{Key{Code: KeyKPEnter}, app, "\x1bOM"},

		{Key{Code: KeyEnter, Mods: ModShift}, ChildModes{ModifyOtherKeys: 1}, "\x1b[27;2;13~"},
		{Key{Code: KeyTab, Mods: ModCtrl}, ChildModes{ModifyOtherKeys: 1}, "\t"},
		{Key{Code: '1', Mods: ModCtrl}, ChildModes{ModifyOtherKeys: 1}, "\x1b[27;5;49~"},
		{Key{Code: 'a', Mods: ModCtrl}, ChildModes{ModifyOtherKeys: 1}, "\x01"},
		{Key{Code: 'a', Mods: ModCtrl}, ChildModes{ModifyOtherKeys: 2}, "\x1b[27;5;97~"},
		{Key{Code: 'a', Mods: ModCtrl | ModShift}, ChildModes{ModifyOtherKeys: 2}, "\x1b[27;6;65~"},
		{Key{Code: 'a', Mods: ModShift}, ChildModes{ModifyOtherKeys: 2}, "A"},
		{Key{Code: KeyTab, Mods: ModCtrl}, ChildModes{ModifyOtherKeys: 2}, "\x1b[27;5;9~"},
		{Key{Code: KeyTab, Mods: ModShift}, ChildModes{ModifyOtherKeys: 2}, "\x1b[Z"},
	} {
		if got := string(EncodeKey(nil, row.key, row.m)); got != row.want {
			t.Errorf("%+v in %+v = %q, want %q", row.key, row.m, got, row.want)
		}
	}
}

func TestKeysAreSpelledAsTheKittyProtocolSays(t *testing.T) {
	const all = KittyDisambiguate | KittyAllKeys
	for _, row := range []struct {
		key   Key
		flags int
		want  string
	}{
		{Key{Code: 'a'}, 1, "a"},
		{Key{Code: 'A'}, 1, "A"},
		{Key{Code: 'A'}, all, "\x1b[97;2u"},
		{Key{Code: 'A'}, all | KittyAlternates, "\x1b[97:65;2u"},
		{Key{Code: 'a'}, all, "\x1b[97u"},
		{Key{Code: 'a', Text: "a"}, all | KittyText, "\x1b[97;;97u"},
		{Key{Code: 'a', Mods: ModShift}, all | KittyText, "\x1b[97;2;65u"},
		{Key{Code: 'a', Mods: ModCtrl}, 1, "\x1b[97;5u"},
		{Key{Code: 'a', Mods: ModCtrl | ModCapsLock}, 1, "\x1b[97;5u"},
		{Key{Code: 'a', Mods: ModCtrl | ModCapsLock}, all, "\x1b[97;69u"},
		{Key{Code: 'a', Mods: ModAlt}, 1, "\x1b[97;3u"},
		{Key{Code: 'a', Mods: ModSuper}, 1, "\x1b[97;9u"},
		{Key{Code: 'с', Base: 'c', Mods: ModCtrl}, 1 | KittyAlternates, "\x1b[1089::99;5u"},
		{Key{Code: KeyEscape}, 1, "\x1b[27u"},
		{Key{Code: KeyEscape}, KittyEvents, "\x1b"},
		{Key{Code: KeyEnter}, 1, "\r"},
		{Key{Code: KeyEnter}, all, "\x1b[13u"},
		{Key{Code: KeyEnter, Mods: ModShift}, 1, "\x1b[13;2u"},
		{Key{Code: KeyTab, Mods: ModShift}, 1, "\x1b[9;2u"},
		{Key{Code: KeyEnter, Event: Release}, 1 | KittyEvents, ""},
		{Key{Code: KeyEnter, Event: Release}, all | KittyEvents, "\x1b[13;1:3u"},
		{Key{Code: 'a', Event: Release}, 1, ""},
		{Key{Code: 'a', Event: Release}, 1 | KittyEvents, "\x1b[97;1:3u"},
		{Key{Code: 'a', Event: Repeat}, 1 | KittyEvents, "a"},
		{Key{Code: 'a', Event: Repeat}, all | KittyEvents, "\x1b[97;1:2u"},
		{Key{Code: 'a', Mods: ModCtrl, Event: Release}, KittyEvents, "\x1b[97;5:3u"},
		{Key{Code: 'a', Mods: ModCtrl}, KittyEvents, "\x01"},
		{Key{Code: KeyUp}, 1, "\x1b[A"},
		{Key{Code: KeyUp, Mods: ModCtrl, Event: Repeat}, 1 | KittyEvents, "\x1b[1;5:2A"},
		{Key{Code: KeyF1}, 1, "\x1b[P"},
		{Key{Code: KeyF1 + 2}, 1, "\x1b[13~"},
		{Key{Code: KeyF1 + 4, Mods: ModShift}, 1, "\x1b[15;2~"},
		{Key{Code: KeyF1 + 12}, 1, "\x1b[57376u"},
		{Key{Code: KeyKP0 + 5}, 1, "5"},
		{Key{Code: KeyKP0 + 5}, all, "\x1b[57404u"},
		{Key{Code: KeyKPLeft}, 1, "\x1b[57417u"},
		{Key{Code: KeyKPEnter}, 1, "\x1b[57414u"},
		{Key{Code: KeyLeftShift, Mods: ModShift}, 1, ""},
		{Key{Code: KeyLeftShift, Mods: ModShift}, all, "\x1b[57441;2u"},
		{Key{Code: 0, Text: "ä"}, 1, "ä"},
		{Key{Code: 0, Text: "ä"}, all | KittyText, "\x1b[0;;228u"},
		{Key{Code: KeyUp}, KittyAlternates, "\x1b[A"},
	} {
		if got := string(EncodeKey(nil, row.key, ChildModes{KittyFlags: row.flags})); got != row.want {
			t.Errorf("%+v with flags %d = %q, want %q", row.key, row.flags, got, row.want)
		}
	}
}

func TestWhatIsEncodedIsDecodedToTheSameKey(t *testing.T) {
	codes := []rune{
		'a', 'z', '5', 'é', KeySpace, KeyTab, KeyEnter, KeyEscape, KeyBackspace, KeyUp, KeyKPBegin, KeyHome,
		KeyInsert, KeyPageDown, KeyF1, KeyF1 + 2, KeyF1 + 4, KeyF1 + 11, KeyF1 + 12, KeyF35, KeyKP0, KeyKPEnter, KeyKPLeft,
		KeyMediaPlay, KeyLeftShift, KeyMenu,
	}
	m := ChildModes{KittyFlags: KittyDisambiguate | KittyEvents | KittyAlternates | KittyAllKeys}
	rapid.Check(t, func(t *rapid.T) {
		want := Key{
			Code: rapid.SampledFrom(codes).Draw(t, "code"), Mods: Mods(rapid.Byte().Draw(t, "mods")),
			Event: Event(rapid.IntRange(0, 2).Draw(t, "event")), Form: FormKitty,
		}
		enc := EncodeKey(nil, want, m)
		got := tokens(t, enc)
		if len(got) != 1 || got[0].Kind != KindKey {
			t.Fatalf("%+v is %q, read as %v", want, enc, describeAll(got))
		}
		k := got[0].Key
		k.Form = want.Form // a letter form without event is FormCSI
		if k != want {
			t.Errorf("%+v is %q, read as %+v", want, enc, k)
		}
	})
}
