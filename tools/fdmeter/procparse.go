package fdmeter

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errFormat matches every text of the kernel that could not be understood.
var errFormat = errors.New("unexpected format")

// parseStat reads /proc/PID/stat. See proc_pid_stat(5).
//
// The second field is the name in parentheses. It may hold spaces, newlines
// and parentheses itself, but nothing after it does: the last ')' ends it.
func parseStat(text []byte) (Proc, error) {
	open := bytes.IndexByte(text, '(')
	shut := bytes.LastIndexByte(text, ')')
	if open < 1 || shut < open {
		return Proc{}, fmt.Errorf("parse stat: no name: %w", errFormat)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text[:open])))
	if err != nil {
		return Proc{}, fmt.Errorf("parse stat: pid: %w", errFormat)
	}
	const (
		state     = 0 // field 3
		parent    = 1
		session   = 3
		terminal  = 4
		flags     = 6
		starttime = 19 // field 22
		stack     = 25 // field 28
		signal    = 35 // field 38
	)
	who := Proc{PID: pid, Name: string(text[open+1 : shut])}
	field := 0
	for word := range bytes.FieldsSeq(text[shut+1:]) {
		switch field {
		case state:
			who.State = word[0]
		case parent:
			who.Parent, err = strconv.Atoi(string(word))
		case session:
			who.Session, err = strconv.Atoi(string(word))
		case terminal:
			var device int64
			device, err = strconv.ParseInt(string(word), 10, 64)
			who.tty = ptsOf(device)
		case flags:
			var bits uint64
			bits, err = strconv.ParseUint(string(word), 10, 64)
			const kernelThread = 0x00200000 // PF_KTHREAD
			who.kernel = bits&kernelThread != 0
		case starttime:
			who.Birth, err = strconv.ParseUint(string(word), 10, 64)
		case stack:
			who.image, err = strconv.ParseUint(string(word), 10, 64)
		case signal:
			// What the parent is sent at the end: a thread tells nobody.
			who.thread = string(word) == "-1"
			return who, nil
		}
		if err != nil {
			return Proc{}, fmt.Errorf("parse stat: field %d: %w", field+3, errFormat)
		}
		field++
	}
	if field <= starttime {
		return Proc{}, fmt.Errorf("parse stat: only %d fields: %w", field+2, errFormat)
	}
	return who, nil
}

// ptsOf returns the number of the pseudo-terminal that a device is, or -1. The
// major numbers 136 to 143 are those of Unix98 terminals; the minor number is
// in the bits 0 to 7 and 20 to 31.
func ptsOf(device int64) int {
	const first, last, perMajor = 136, 143, 256
	major, minor := int(device>>8&0xfff), int(device&0xff|device>>12&0xfff00)
	if device <= 0 || major < first || major > last {
		return -1
	}
	return (major-first)*perMajor + minor
}

// parseArgv splits what /proc/PID/cmdline holds. A process may have written
// over it, so neither the last NUL nor any argument is relied upon.
func parseArgv(text []byte) []string {
	text = bytes.TrimRight(text, "\x00")
	if len(text) == 0 {
		return nil
	}
	return strings.Split(string(text), "\x00")
}

// parseLimits reads "Max open files" from /proc/PID/limits.
func parseLimits(text []byte) (soft, hard Value, err error) {
	for line := range bytes.Lines(text) {
		rest, found := bytes.CutPrefix(line, []byte("Max open files"))
		if !found {
			continue
		}
		words := bytes.Fields(rest)
		if len(words) < 2 {
			break
		}
		if soft, err = parseLimit(words[0]); err == nil {
			hard, err = parseLimit(words[1])
		}
		return soft, hard, err
	}
	return Value{}, Value{}, fmt.Errorf("parse limits: no open files: %w", errFormat)
}

func parseLimit(word []byte) (Value, error) {
	if string(word) == "unlimited" {
		return Unknown(Unlimited), nil
	}
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil {
		return Value{}, fmt.Errorf("parse limits: %w", errFormat)
	}
	return Known(n), nil
}

// parseNumbers reads the decimal numbers of a file such as file-nr.
func parseNumbers(text []byte, want int) ([]int64, error) {
	words := bytes.Fields(text)
	if len(words) < want {
		return nil, fmt.Errorf("parse numbers: %d of %d: %w", len(words), want, errFormat)
	}
	numbers := make([]int64, want)
	for i := range numbers {
		n, err := strconv.ParseInt(string(words[i]), 10, 64)
		if errors.Is(err, strconv.ErrRange) && n > 0 {
			err = nil // file-max may be as high as ULONG_MAX; the nearest int64 stands for it
		}
		if err != nil {
			return nil, fmt.Errorf("parse numbers: %w", errFormat)
		}
		numbers[i] = n
	}
	return numbers, nil
}

// parseOwner reads the effective user from /proc/PID/status: real, effective,
// saved, file system.
func parseOwner(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if rest, found := bytes.CutPrefix(line, []byte("Uid:")); found {
			if words := bytes.Fields(rest); len(words) >= 2 {
				if uid, err := strconv.Atoi(string(words[1])); err == nil {
					return uid, nil
				}
			}
			break
		}
	}
	return -1, fmt.Errorf("parse status: no user: %w", errFormat)
}

// parseBoot reads the time of boot, in seconds since 1970, from /proc/stat.
func parseBoot(text []byte) (int64, error) {
	for line := range bytes.Lines(text) {
		if rest, found := bytes.CutPrefix(line, []byte("btime ")); found {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
			if err != nil {
				break
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("parse boot time: %w", errFormat)
}

// number reads a name that consists of digits only, as pids and descriptors do.
func number(name []byte) (int, bool) {
	if len(name) == 0 || len(name) > 10 {
		return 0, false
	}
	n := 0
	for _, c := range name {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
