// Package vtserve puts the terminal engine behind pipes, so that it can be scored
// and compared without a display.
//
//	stdin ─▶ requests, one JSON object a line ─▶ vt.Terminal ─▶ answers ─▶ stdout
//
// Serve speaks version 1 of the adapter protocol: hello, reset, feed, resize,
// dump, quit. A request that cannot be carried out, and a panic of the engine,
// come back as {"error": "..."}; neither ends the loop. FeedAndDump feeds one
// stream and writes one dump. Dump is the form both share.
package vtserve
