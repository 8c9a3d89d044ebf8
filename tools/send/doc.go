// Package send sends a message with files to where people read, and says of
// each text and each file what became of it.
//
//	Request ──▶ collect ──▶ policy ──▶ open, count, hash ──▶ limits, split
//	  text       typed list    by rule     one descriptor        │
//	  files      MEDIA: tags                                     ▼
//	                                    ┌──────────────── Platform.Send
//	 Result ◀── one Receipt each ◀──────┘  bytes counted on the wire
//	  requested = sent + dropped + rejected + unknown
//
// Rules:
//   - The number of things requested is fixed before the first network byte.
//     Each has exactly one receipt, and only a receipt that says sent is success.
//   - A file is opened once. What was checked is what goes: a file that changed
//     in between is never sent whole.
//   - What may have arrived is unknown. It is never sent again unless a person
//     asks, and only a refusal that is certain is waited out and tried again.
//   - A directive acts only where somebody wrote it. One that came out of a
//     file name or a tool's result is shown as text.
//   - A secret is in no error, no receipt and no log: every text that leaves
//     the package passes the scrubber.
//   - A refused path is repeated only in a form that cannot act.
package send
