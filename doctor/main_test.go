package doctor

import (
	"testing"

	"github.com/honestty/honestty/internal/leak"
)

func TestRunLeavesNothingBehind(t *testing.T) {
	m := newMachine(t)
	m.process(10, "p", "p", 4096, 0)
	Run(t.Context(), m.env(10)) // the runtime opens what it needs once
	before := leak.Take(t)
	for range 5 {
		Run(t.Context(), m.env(10))
	}
	before.Check(t)
}
