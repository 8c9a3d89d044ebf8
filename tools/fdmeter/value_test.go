package fdmeter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

func TestZeroValueIsUnknownAndNeverPrintsAsZero(t *testing.T) {
	var v Value
	if _, known := v.Get(); known || v.String() != "?" || v.Reason() != "not read" {
		t.Errorf("zero Value: %q %q", v.String(), v.Reason())
	}
	for c := NotRead; c <= NotRecorded; c++ {
		text, err := json.Marshal(Unknown(c))
		if err != nil || string(text) != "null" {
			t.Errorf("JSON of unknown %v = %s, %v", c, text, err)
		}
		if Unknown(c).String() == "0" || Unknown(c).Reason() == "" {
			t.Errorf("unknown %v reads %q, reason %q", c, Unknown(c), Unknown(c).Reason())
		}
	}
	if text, _ := json.Marshal(Known(0)); string(text) != "0" {
		t.Errorf("a known zero is %s", text)
	}
}

func TestValueSurvivesJSON(t *testing.T) {
	for _, want := range []Value{Known(0), Known(42), Known(-1)} {
		text, _ := json.Marshal(want)
		var got Value
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%v became %v, %v", want, got, err)
		}
	}
	got := Known(7)
	if err := json.Unmarshal([]byte("null"), &got); err != nil || got.Known() {
		t.Errorf("null became %v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`"many"`), &got); err == nil {
		t.Error("a text was read as a figure")
	}
}

func TestEveryErrorHasItsCause(t *testing.T) {
	for _, test := range []struct {
		err      error
		want     Cause
		sentinel error
	}{
		{syscall.EACCES, Denied, ErrDenied},
		{syscall.EPERM, Denied, ErrDenied},
		{fs.ErrPermission, Denied, ErrDenied},
		{syscall.ENOENT, Gone, ErrGone},
		{syscall.ESRCH, Gone, ErrGone},
		{syscall.EMFILE, NoDescriptors, ErrNoDescriptors},
		{syscall.ENFILE, NoDescriptors, ErrNoDescriptors},
		{ErrUnsupported, Unsupported, ErrUnsupported},
		{fmt.Errorf("read stat: %w", syscall.EACCES), Denied, ErrDenied},
		{syscall.EIO, Broken, syscall.EIO},
	} {
		v := failed(test.err)
		wantUnknown(t, test.err.Error(), v, test.want)
		if !errors.Is(v.Err(), test.sentinel) {
			t.Errorf("%v is not %v", v.Err(), test.sentinel)
		}
		if again := failed(v.Err()); again.Cause() != test.want {
			t.Errorf("%v lost its cause: %v", test.err, again.Cause())
		}
	}
	if got := failed(syscall.EIO).Reason(); got != "read failed: input/output error" {
		t.Errorf("reason of EIO = %q", got)
	}
	if Known(1).Err() != nil {
		t.Error("a known value has an error")
	}
}

func TestMethodSurvivesJSON(t *testing.T) {
	for m := ByNone; m <= ByProcInfo; m++ {
		text, err := json.Marshal(m)
		var got Method
		if err = errors.Join(err, json.Unmarshal(text, &got)); err != nil || got != m {
			t.Errorf("%v became %v, %v", m, got, err)
		}
	}
	var m Method
	if err := json.Unmarshal([]byte(`"guess"`), &m); err == nil {
		t.Error("an unknown method was read")
	}
}
