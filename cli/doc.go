// Package cli is the command line: subcommands, flags, exit codes. It is the
// only place that builds things and hands them to each other.
//
//	main ──▶ Main ──▶ a command ──▶ wire: poller ── session ── window
//	           │                                └── tools
//	           └──▶ exit code
//
// Rules:
//   - A command returns an error; Main turns it into one line on stderr and an
//     exit code: 0 complete, 1 not complete, 2 usage. Only `run` and `vt -- CMD`
//     answer with the child's own code.
//   - Results go to stdout, narration to stderr. Where something is reported
//     there is --json.
//   - Wrong use is told before anything is started.
package cli
