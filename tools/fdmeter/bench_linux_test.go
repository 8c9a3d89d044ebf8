package fdmeter

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkCount compares ways to count one process with 1,500 descriptors.
func BenchmarkCount(b *testing.B) {
	var fds []int
	for range 1500 {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			b.Fatal(err)
		}
		fds = append(fds, fd)
	}
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	src := newProcfs("/proc", systemFiles{})
	b.Run("stat", func(b *testing.B) {
		for b.Loop() {
			src.count(os.Getpid())
		}
	})
	b.Run("listing", func(b *testing.B) {
		for b.Loop() {
			highest(src, os.Getpid())
		}
	})
	b.Run("types", func(b *testing.B) {
		m := &Meter{}
		for b.Loop() {
			m.Types(os.Getpid(), noon)
		}
	})
}

// herd starts n sleeping processes as one tree and returns the root.
func herd(b *testing.B, n int) int {
	b.Helper()
	script := fmt.Sprintf("i=1; while [ $i -lt %d ]; do sleep 600 & i=$((i+1)); done; echo ready; exec sleep 600", n)
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	out.Read(make([]byte, 16))
	return cmd.Process.Pid
}

// spent is the processor time of this process, and of its children that were
// waited for.
func spent() time.Duration {
	total := int64(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		syscall.Getrusage(who, &u)
		total += u.Utime.Nano() + u.Stime.Nano()
	}
	return time.Duration(total)
}

// BenchmarkReading compares what one reading of n processes costs in processor
// time: cpu-µs/reading.
func BenchmarkReading(b *testing.B) {
	for _, n := range []int{1, 200, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			root := herd(b, n)
			tree := (&Meter{}).Tree(root)
			pids := tree.Roots[root]
			if len(pids) != n {
				b.Fatalf("%d processes, want %d", len(pids), n)
			}
			list, folders := "", []string{}
			for _, pid := range pids {
				list += "," + strconv.Itoa(pid)
				folders = append(folders, "/proc/"+strconv.Itoa(pid)+"/fd")
			}
			src := systemSource()
			m := &Meter{}
			for _, way := range []struct {
				name string
				read func()
			}{
				{"count", func() {
					for _, pid := range pids {
						src.count(pid)
					}
				}},
				{"full", func() {
					for _, pid := range pids {
						m.Read(pid, noon)
					}
				}},
				{"types", func() {
					for _, pid := range pids {
						m.Types(pid, noon)
					}
				}},
				{"readdir", func() {
					for _, folder := range folders {
						os.ReadDir(folder)
					}
				}},
				{"ls", func() { exec.Command("ls", folders...).Output() }},
				{"lsof", func() { exec.Command("lsof", "-nP", "-p", list[1:]).Output() }},
			} {
				b.Run(way.name, func(b *testing.B) {
					if _, err := exec.LookPath(way.name); err != nil && way.name == "lsof" {
						b.Skip("lsof is not installed")
					}
					before, readings := spent(), 0
					for b.Loop() {
						way.read()
						readings++
					}
					b.ReportMetric(float64((spent()-before).Microseconds())/float64(readings), "cpu-µs/reading")
				})
			}
		})
	}
}

// BenchmarkSample reports the processor time of one tick with n processes below
// one root, and what part of a core that is at the interval the Sampler asks
// for: 0.5 is the budget while somebody looks.
func BenchmarkSample(b *testing.B) {
	for _, n := range []int{1, 50, 200, 1000} {
		for name, looked := range map[string]bool{"looked-at": true, "resting": false} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				roots := []int{herd(b, n)}
				s := NewSampler(&Meter{})
				s.SetAttention(looked)
				first := s.Sample(noon, roots)
				for !first.Scan.Complete() { // those of an earlier herd are not reaped yet
					first = s.Sample(noon, roots)
				}
				if got := len(first.Roots[0].Members); got != n {
					b.Fatalf("%d members, want %d", got, n)
				}
				now, passed, ticks := noon, time.Duration(0), 0
				before := spent()
				b.ReportAllocs()
				for b.Loop() {
					step := s.Interval()
					now, passed = now.Add(step), passed+step
					s.Sample(now, roots)
					ticks++
				}
				cpu := spent() - before
				b.ReportMetric(float64(cpu.Microseconds())/float64(ticks), "cpu-µs/tick")
				b.ReportMetric(100*cpu.Seconds()/passed.Seconds(), "%core")
			})
		}
	}
}

// BenchmarkSurvey is what a question about the whole machine costs.
func BenchmarkSurvey(b *testing.B) {
	herd(b, 200)
	m := &Meter{}
	b.Run("survey", func(b *testing.B) {
		for b.Loop() {
			m.Survey(b.Context(), noon)
		}
	})
	b.Run("sockets", func(b *testing.B) {
		for b.Loop() {
			m.Sockets()
		}
	})
}
