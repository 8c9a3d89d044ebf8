// Package archtest holds the architecture as a test: which folder may use
// which, and which calls belong to one place. It reads the source files
// itself, so it sees the files of every platform, and the test cache notices
// each change.
package archtest
