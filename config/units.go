package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Size is a number of bytes, written with its unit: 64KiB, 32MiB.
type Size int64

// sizeUnits are the units of Size, the largest first. A unit of 1000 is not
// taken: other programs disagree about what MB means.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String writes the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// ParseSize reads what String writes.
func ParseSize(text string) (Size, error) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil || int64(n) > (1<<63-1)/u.bytes {
			break
		}
		return Size(int64(n) * u.bytes), nil
	}
	return 0, fmt.Errorf("parse size %s: not a whole number with B, KiB, MiB or GiB", quoted(text))
}

// A Percent is a share in hundredths, written with its sign: 80%.
type Percent int

// String writes the share with its sign.
func (p Percent) String() string { return strconv.Itoa(int(p)) + "%" }

// Of returns the share of n, rounded down.
func (p Percent) Of(n int) int { return n * int(p) / 100 }

// Ratio returns the share of 1.
func (p Percent) Ratio() float64 { return float64(p) / 100 }

// ParsePercent reads what String writes.
func ParsePercent(text string) (Percent, error) {
	if digits, ok := strings.CutSuffix(text, "%"); ok {
		if n, err := strconv.ParseUint(digits, 10, 31); err == nil {
			return Percent(n), nil
		}
	}
	return 0, fmt.Errorf("parse share %s: not a whole number with %%", quoted(text))
}

// timeText writes a duration without parts that are zero: 1m, not 1m0s.
func timeText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
