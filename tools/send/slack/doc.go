// Package slack sends as a Slack app, by slack-go.
//
//	text  ─▶ chat.postMessage ─────────────────────────────▶ at the other end
//	file  ─▶ files.getUploadURLExternal   nothing is visible yet
//	          ─▶ POST to that address     nothing is visible yet
//	              ─▶ files.completeUploadExternal ──────────▶ at the other end
//
// Rules:
//   - Only the last step of a file shows anything to anybody. A step before it
//     that broke is a refusal that is certain; the last one that broke is
//     unknown.
//   - The library returns no error for an answer without "ok" and "error", and
//     hides the HTTP answer behind decode errors. Each answer is kept and judged
//     as it came; the library makes the requests.
//   - The bytes of a file are posted by us and not by the library: it ends the
//     form properly when a file cannot be read to its end, and hands the token
//     to the upload's address, which needs none.
//   - Text goes as it was written: Slack's markup is switched off and its three
//     special characters are escaped.
package slack
