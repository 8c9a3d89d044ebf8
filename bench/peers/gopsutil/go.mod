module github.com/honestty/honestty/bench/peers/gopsutil

go 1.26.0

require github.com/shirou/gopsutil/v4 v4.26.10

require (
	github.com/tklauser/go-sysconf v0.4.0 // indirect
	github.com/tklauser/numcpus v0.12.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
