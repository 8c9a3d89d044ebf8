// Package redact replaces secrets in text before it is shown or stored, and
// counts them.
//
//	text ──▶ scanner ──trigger──▶ token shapes   sk-…, ghp_…, JWT, bot tokens
//	  one look at each byte  │    names          API_KEY=…, "password": "…", --token …
//	                         │    headers        Authorization: Bearer …
//	                         │    key blocks     -----BEGIN … PRIVATE KEY-----
//	                         ▼    URLs           scheme://user:password@host
//	                    value ──▶ mask: abcd***wxyz, shorter values keep less
//
// Rules:
//   - Text without a secret is returned as it came, at the cost of one look at
//     each byte. The time is linear in the length of the text.
//   - Redacting what was redacted changes nothing and counts 0.
//   - A mask never cuts a character, and JSON stays the same JSON but for the
//     insides of its strings.
//   - A prompt, a reference ($TOKEN, os.Getenv("TOKEN")), a hash, a UUID and an
//     encoded picture are no secrets and stay. What is doubtful beside a name
//     that says password is one.
//   - This finds secrets by their shape and their name. It cannot promise that
//     there is none left.
package redact
