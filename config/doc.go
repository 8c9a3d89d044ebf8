// Package config holds the settings of honestty: their defaults, what the
// user's files say, and where each value came from.
//
//	table of keys ──▶ Defaults, Default (TOML), Schema (JSON)
//	      │
//	      ▼
//	defaults ◀─ user's file ◀─ --config file ◀─ NO_COLOR ──▶ Config, Origin
//	                 │ anything wrong
//	                 ▼
//	      Problems: all of them, each with file, line, column and what is expected
//
// Rules:
//   - One table (table.go) names each key, its form, default and words. What is
//     printed, checked and documented comes from it.
//   - A file is taken whole or not at all. A Store keeps the last good Config in
//     force while a file is wrong.
//   - Everything that is wrong is told at once, with the nearest name where a
//     name is not known. Text from a file is never repeated raw.
//   - What a key or an action is called is the caller's to judge: a KeyCheck.
//   - State (state.json) is what honestty remembers by itself; nobody edits it,
//     and a broken one is set aside and told, never fatal.
//   - No goroutine, no watcher: the owner asks Changed when it likes.
package config
