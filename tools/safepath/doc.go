// Package safepath decides whether a path that came from outside may be used,
// before anything repeats it.
//
//	path from outside
//	   │ 1 control characters, line separators, bytes that are not UTF-8
//	   │ 2 a media directive inside the path
//	   │ 3 a '..' component
//	   │   made absolute, links followed, 1 and 2 once more
//	   │ 4 protected places           ─▶ outcome.RefusedError names the rule,
//	   │ 5 places that need approval       never the path
//	   ▼                              ─▶ Path.Approve names the rule
//	Path{Abs, Real} ──▶ Open ──▶ the file that was checked, and no other
//
// Rules:
//   - Reading, writing and delivering have one list of places (places.go). A
//     place says for each use: denied, wants approval, open, or nothing. The
//     deepest place that says something decides.
//   - A place in the home also holds where the user's environment moved it to.
//   - Both sides are compared as written, with links followed, and by inode, so
//     that a link, a bind mount or another spelling does not get round a place.
//   - An error never carries the path. What could not be looked at is an error
//     that says so, neither a yes nor a refusal.
//   - Text direction marks and other invisible characters are legal in names.
//     Whoever shows a path escapes them.
//   - The grammar of media directives lives here once (media.go): for the gate,
//     for the sender that acts on directives, and for the property test that no
//     accepted path adds one.
package safepath
