package ctl

// noSignal is nothing here: older kernels refuse the flag, and the Go runtime
// takes the signal.
const noSignal = 0
