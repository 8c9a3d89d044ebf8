package fdmeter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAFileThatIsNoRecordIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "null", "{}", "[1]", `{"version":2,"processes":[]}`, `{"version":1,"processes":[{"fds":[{"fd":4},{"fd":3}]}]}`,
		`{"version":1,"processes":[{"unknown":{"count":"because"}}]}`, `{"version":1,"processes":[{"method":"magic"}]}`,
	} {
		if r, err := ReadRecord(strings.NewReader(text)); !errors.Is(err, ErrRecord) && err == nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
	if _, err := ReadRecord(zeros{}); !errors.Is(err, ErrRecord) {
		t.Errorf("an endless file: %v", err)
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestRecordsCompareProcessByProcess(t *testing.T) {
	one := func(pid int, birth uint64, fds ...FD) Recorded {
		b := Breakdown{PID: pid, Birth: birth, Listed: Known(int64(len(fds))), FDs: fds}
		return Recorded{Reading{PID: pid, Name: "p", Count: b.Listed}, b}
	}
	pipe, file := FD{Number: 3, Kind: KindPipe, Target: "pipe:[1]"}, FD{Number: 4, Kind: KindFile, Target: "/a"}
	a := Record{Boot: "x", Whole: true, Processes: []Recorded{one(10, 1, pipe, file), one(11, 1, pipe), one(12, 1, pipe)}}
	b := Record{Boot: "x", Whole: true, Processes: []Recorded{one(10, 1, file), one(12, 9, pipe), one(13, 1, pipe, file)}}
	changes := CompareRecords(a, b)
	var got []string
	for _, c := range changes {
		got = append(got, c.Before.String()+">"+c.After.String())
	}
	if want := []string{"2>1", "1>?", "1>1", "?>2"}; !slices.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	for i, want := range []struct {
		closed, opened, survived []int
		replaced                 bool
	}{
		{[]int{3}, []int{}, []int{4}, false},
		{[]int{3}, []int{}, []int{}, false},
		{[]int{3}, []int{3}, []int{}, true},
		{[]int{}, []int{3, 4}, []int{}, false},
	} {
		d := changes[i].Diff
		if !slices.Equal(numbersIn(d.Closed), want.closed) || !slices.Equal(numbersIn(d.Opened), want.opened) ||
			!slices.Equal(numbersIn(d.Survived), want.survived) || d.Replaced != want.replaced || !d.Complete {
			t.Errorf("process %d: %+v", changes[i].PID, d)
		}
	}
}

// TestNothingIsClaimedOfAProcessThatASnapshotLeftOut compares snapshots of some
// processes only.
func TestNothingIsClaimedOfAProcessThatASnapshotLeftOut(t *testing.T) {
	one := func(pid int, started time.Time) Recorded {
		b := Breakdown{PID: pid, Birth: 1, Listed: Known(1), FDs: []FD{{Number: 3, Kind: KindPipe, Target: "pipe:[1]"}}}
		return Recorded{Reading{PID: pid, Name: "p", Count: b.Listed, Started: started}, b}
	}
	a := Record{Boot: "x", At: noon, Processes: []Recorded{one(10, noon.Add(-time.Hour))}}
	b := Record{Boot: "x", At: noon.Add(time.Minute), Processes: []Recorded{
		one(11, noon.Add(-time.Hour)), one(12, noon.Add(30*time.Second)), one(13, time.Time{}),
	}}
	left := func(changes []Change) (out []string) {
		for _, c := range changes {
			out = append(out, fmt.Sprintf("%d %s>%s %v %d %d", c.PID, c.Before.Reason(), c.After.Reason(), c.Diff.Complete, len(c.Diff.Opened), len(c.Diff.Closed)))
		}
		return out
	}
	const not, gone = "not in that snapshot", "process is gone"
	want := []string{"10 >" + not + " false 0 0", "11 " + not + "> false 0 0", "12 " + gone + "> true 1 0", "13 " + not + "> false 0 0"}
	if got := left(CompareRecords(a, b)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Boot = "y" // after another start of the machine no process is the same
	want = []string{"10 >" + gone + " true 0 1", "11 " + gone + "> true 1 0", "12 " + gone + "> true 1 0", "13 " + gone + "> true 1 0"}
	if got := left(CompareRecords(a, b)); !slices.Equal(got, want) {
		t.Errorf("another boot: got %q, want %q", got, want)
	}
}

func TestAMasterThatWasReopenedDidNotSurvive(t *testing.T) {
	master := func(slave string) FD {
		return FD{Number: 9, Kind: KindPTY, Target: "/dev/ptmx", Detail: Detail{Flags: Known(2), Slave: slave}}
	}
	d := Compare(breakdown(master("/dev/pts/3")), breakdown(master("/dev/pts/4")))
	if len(d.Survived) != 0 || len(d.Opened) != 1 || len(d.Closed) != 1 {
		t.Errorf("diff %+v", d)
	}
}

func TestAPidfdSurvivesTheEndOfItsProcess(t *testing.T) {
	pidfd := func(pid int64) FD {
		return FD{Number: 9, Kind: KindPidfd, Target: "anon_inode:[pidfd]", Detail: Detail{Flags: Known(2), Process: Known(pid)}}
	}
	if d := Compare(breakdown(pidfd(4711)), breakdown(pidfd(-1))); len(d.Survived) != 1 {
		t.Errorf("its process ended: %+v", d)
	}
	if d := Compare(breakdown(pidfd(4711)), breakdown(pidfd(4712))); len(d.Survived) != 0 {
		t.Errorf("it is another process's: %+v", d)
	}
}

func FuzzReadRecord(f *testing.F) {
	f.Add(`{"version":1,"name":"x","processes":[{"pid":1,"listed":1,"fds":[{"fd":0,"type":"pipe"}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadRecord(strings.NewReader(text))
		if err != nil {
			return
		}
		CompareRecords(r, r)
		var b strings.Builder
		if err := r.Write(&b); err != nil {
			return // a time that JSON cannot hold
		}
		if _, err := ReadRecord(strings.NewReader(b.String())); err != nil {
			t.Errorf("what was written is not read: %v\n%s", err, b.String())
		}
	})
}

func FuzzSocketAnswers(f *testing.F) {
	f.Add(make([]byte, 96), false)
	f.Fuzz(func(t *testing.T, msg []byte, six bool) {
		protocol := "tcp"
		if six {
			protocol = "tcp6"
		}
		if s, err := parseInet(protocol, msg); err == nil && s.State == "" {
			t.Errorf("no state: %+v", s)
		}
		_, _ = parseUnix(msg)
		_, _ = parseNetlink(msg)
		if d, _, err := parseDetail(msg); err == nil && !d.Known() {
			t.Errorf("a detail without flags: %+v", d)
		}
	})
}
