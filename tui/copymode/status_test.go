package copymode

import "testing"

func TestTheStatusBeginsWithWhatMattersNow(t *testing.T) {
	for _, test := range []struct {
		name string
		s    Status
		want string
	}{
		{"moving", Status{Line: 3, Lines: 1200}, "copy  line 3 of 1,200"},
		{"a count", Status{Line: 3, Lines: 9, Count: 12}, "copy  line 3 of 9  12"},
		{"selecting", Status{Line: 3, Lines: 9, Selected: "2 lines selected"}, "copy  line 3 of 9  2 lines selected"},
		{
			"typing a pattern",
			Status{Line: 3, Lines: 9, Typing: true, Pattern: "/wi", Matches: "2 of 4 matches"},
			"copy  /wi  2 of 4 matches  line 3 of 9",
		},
		{
			"typing no pattern yet",
			Status{Line: 3, Lines: 9, Typing: true, Pattern: "/[", Error: "not a regular expression: missing ]"},
			"copy  /[  not a regular expression: missing ]  line 3 of 9",
		},
		{
			"nothing found",
			Status{Line: 3, Lines: 9, Pattern: "/x", Matches: "no match", Notice: "no match for /x/", Warning: true},
			"copy  no match for /x/  line 3 of 9",
		},
		{
			"found",
			Status{Line: 3, Lines: 9, Pattern: "/x", Matches: "1 of 2 matches", Notice: "from the top"},
			"copy  line 3 of 9  1 of 2 matches  /x  from the top",
		},
	} {
		if got := test.s.String(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
