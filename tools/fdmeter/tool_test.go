package fdmeter

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

func TestTheToolCountsWhatWasNamedAndSaysWhatItCouldNot(t *testing.T) {
	tool := Tool(&Meter{})
	run := func(params string) (tools.Answer, map[string]any) {
		t.Helper()
		a := tool.Run(t.Context(), &tools.Call{}, json.RawMessage(params))
		raw, err := json.Marshal(a.Result)
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]any{}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		return a, m
	}
	own, err := json.Marshal(Params{PIDs: []int{os.Getpid()}})
	if err != nil {
		t.Fatal(err)
	}
	if a, m := run(string(own)); a.Status != outcome.Complete || m["error"] != nil || len(m["processes"].([]any)) != 1 || m["system"] == nil {
		t.Errorf("%+v %v", a, m)
	}
	if a, m := run(`{}`); a.Status != outcome.Complete || len(m["processes"].([]any)) == 0 {
		t.Errorf("%+v", a)
	}
	a, m := run(`{"names":["no-such-program-at-all"]}`)
	if a.Status != outcome.Failed || a.Err == nil || !strings.Contains(m["error"].(string), "no process is called") {
		t.Errorf("%+v %v", a, m)
	}
	if a, _ := run(`{"pid":1}`); a.Status != outcome.Refused {
		t.Errorf("an unknown parameter: %+v", a)
	}
}
