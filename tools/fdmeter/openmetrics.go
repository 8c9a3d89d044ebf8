package fdmeter

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// OpenMetricsType is the Content-Type of what WriteOpenMetrics writes.
const OpenMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// WriteOpenMetrics writes a report in the text format of OpenMetrics 1.0. A
// figure that is not known has no sample: it stands in
// honestty_process_unknown with its reason, and is never 0.
func WriteOpenMetrics(w io.Writer, r Report) error {
	out := metrics{bufio.NewWriter(w)}
	processes := slices.Clone(r.Processes)
	slices.SortFunc(processes, func(a, b Reading) int { return a.PID - b.PID })
	// Two samples with the same labels would be an error.
	processes = slices.CompactFunc(processes, func(a, b Reading) bool { return a.PID == b.PID })

	for _, f := range []struct {
		name, help string
		value      func(Reading) Value
	}{
		{"open_fds", "Open descriptors.", func(r Reading) Value { return r.Count }},
		{"highest_fd", "Highest descriptor number. select() takes none from 1024 on.", func(r Reading) Value { return r.Highest }},
		{"soft_limit_fds", "RLIMIT_NOFILE, soft.", func(r Reading) Value { return r.Soft }},
		{"hard_limit_fds", "RLIMIT_NOFILE, hard.", func(r Reading) Value { return r.Hard }},
	} {
		out.family("honestty_process_"+f.name, f.help)
		for _, p := range processes {
			out.value("honestty_process_"+f.name, f.value(p), process(p)...)
		}
	}
	out.family("honestty_process_fds", "Open descriptors by type.")
	for _, p := range processes {
		if p.Types == nil || !p.Types.Listed.Known() {
			continue
		}
		for _, kind := range slices.Sorted(maps.Keys(p.Types.Counts)) {
			out.value("honestty_process_fds", Known(int64(p.Types.Counts[kind])), append(process(p), "type", string(kind))...)
		}
	}
	out.family("honestty_process_unknown", "Figures that could not be read, with the reason.")
	for _, p := range processes {
		for _, f := range p.figures() {
			if !f.value.Known() && f.value.Cause() != Unlimited {
				out.value("honestty_process_unknown", Known(1), append(process(p), "figure", f.field, "reason", f.value.Reason())...)
			}
		}
	}
	for _, f := range []struct {
		name, help string
		value      Value
	}{
		{"files", "Open file descriptions of the machine.", r.System.Files},
		{"files_max", "Limit of honestty_system_files.", r.System.FilesMax},
		{"ptys", "Pseudo-terminals in use.", r.System.PTYs},
		{"ptys_max", "Limit of honestty_system_ptys.", r.System.PTYsMax},
	} {
		out.family("honestty_system_"+f.name, f.help)
		out.value("honestty_system_"+f.name, f.value)
	}
	fmt.Fprint(out, "# EOF\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}

// metrics keeps the first error of its writes until Flush.
type metrics struct{ *bufio.Writer }

func (m metrics) family(name, help string) {
	fmt.Fprintf(m, "# TYPE %s gauge\n# HELP %s %s\n", name, name, escape(help))
}

// value writes one sample; labels are names and values in turn. What is
// unlimited is infinite, and what is not known is left out.
func (m metrics) value(name string, v Value, labels ...string) {
	n, known := v.Get()
	text := strconv.FormatInt(n, 10)
	if !known && v.Cause() == Unlimited {
		text = "+Inf"
	} else if !known {
		return
	}
	var set []string
	for i := 0; i+1 < len(labels); i += 2 {
		set = append(set, labels[i]+`="`+escape(labels[i+1])+`"`)
	}
	if len(set) > 0 {
		name += "{" + strings.Join(set, ",") + "}"
	}
	fmt.Fprintf(m, "%s %s\n", name, text)
}

func process(r Reading) []string { return []string{"pid", strconv.Itoa(r.PID), "name", r.Name} }

// escape writes what the format cannot hold as it is. Names come from outside:
// control characters and broken UTF-8 are replaced.
func escape(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r != '\n' && (r < 0x20 || r >= 0x7F && r < 0xA0) {
			return '\uFFFD'
		}
		return r
	}, s)
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(s)
}
