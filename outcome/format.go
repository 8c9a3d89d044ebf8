package outcome

import (
	"fmt"
	"strconv"
	"time"
)

// Count writes a whole number with thin grouping: 108,894.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// CountBytes writes an exact number of bytes: "1 byte", "108,894 bytes".
func CountBytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return Count(n) + " bytes"
}

// Size writes a size for people: 812 B, 4.9 KB, 1.2 GB. One KB is 1024 bytes.
func Size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n) / 1024
	for _, unit := range []string{"KB", "MB", "GB"} {
		// 1023.95 would print as 1024.0: that belongs to the next unit.
		if f < 1023.95 {
			return fmt.Sprintf("%.1f %s", f, unit)
		}
		f /= 1024
	}
	return fmt.Sprintf("%.1f TB", f)
}

// Duration writes a duration for people: 0.42s, 12.1s, 3m04s, 2h05m.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "?"
	case d < 9995*time.Millisecond:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d < 59950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour-500*time.Millisecond:
		s := int(d.Round(time.Second).Seconds())
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	m := int(d.Round(time.Minute).Minutes())
	return fmt.Sprintf("%dh%02dm", m/60, m%60)
}
