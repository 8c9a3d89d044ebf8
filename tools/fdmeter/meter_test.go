package fdmeter

import "testing"

func TestASystemThatOffersNothingSaysSo(t *testing.T) {
	m := &Meter{src: nowhere{}}
	r := m.ReadTypes(1, noon)
	wantUnknown(t, "count", r.Count, Unsupported)
	wantUnknown(t, "highest", r.Highest, Unsupported)
	wantUnknown(t, "soft", r.Soft, Unsupported)
	wantUnknown(t, "listed", r.Types.Listed, Unsupported)
	wantUnknown(t, "files", m.System().Files, Unsupported)
	if _, scan := m.Find("init"); scan.Listed || scan.Cause != Unsupported {
		t.Errorf("scan %+v", scan)
	}
	snap := NewSampler(m).Sample(noon, []int{1})
	wantUnknown(t, "own", snap.Own.Count, Unsupported)
	wantUnknown(t, "root", snap.Roots[0].Total(), Unsupported)
	if snap.Roots[0].Gone || len(snap.Unknown) != 2 {
		t.Errorf("root %+v, unknown %+v", snap.Roots[0], snap.Unknown)
	}
	if _, ok := snap.Nearest(); ok {
		t.Error("a line is near although nothing is known")
	}
}
