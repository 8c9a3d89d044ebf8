// Package jobhost keeps background jobs in a process of their own, so that they
// outlive the window, command or agent that started them.
//
//	honestty job …  ┐                           host (one a user)
//	window          ├─ Client ──socket──▶ Serve ─▶ process.Table ─▶ jobs
//	agent/mcp       ┘   │                    │
//	                    └─ starts it         └─ ends when nothing runs and nobody
//	                       when none is         has asked for a while
//
// Rules:
//   - One host a user. Who finds none starts one; the folder's lock makes sure
//     that of several only one stays.
//   - The host knows no journal and asks nobody: the caller does both. A job gets
//     the environment and the directory of whoever started it, not the host's.
//   - Output is read by absolute offset. A reader that was away misses nothing
//     that is still kept, and is told what is not.
//   - A host that ends by itself leaves records, which the next one reads.
package jobhost
