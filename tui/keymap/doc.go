// Package keymap says which key does what: the actions of a window, the keys
// that reach them, and who else wants those keys.
//
//	preset ─┐
//	prefix ─┼─▶ New ─▶ Map ─▶ Resolve(prefixed, "%") ─▶ split-right ─▶ the window
//	[keys] ─┘           │
//	                    ├─▶ Table ─▶ honestty keys, the help
//	                    └─▶ Conflicts ─▶ who else uses a key of ours
//
//	"spl" ─▶ Search ─▶ Split right, Split down ─▶ the palette
//
// Rules:
//   - It is pure: it knows no Bubble Tea and no terminal. A key is its name, as
//     tui/input spells it: ctrl+b, %, alt+x, shift+up, enter.
//   - Every action has a title, a description of one line, a group and a place
//     in the palette; in the tmux preset it has a key too.
//   - The prefix pressed twice is the prefix itself, for the program. Nothing
//     else can be bound there.
//   - A key that types a character is only ever ours behind the prefix.
//   - Whoever binds a key that another action had takes it over, and Conflicts
//     says so. Two actions that are both given one key are an error.
package keymap
