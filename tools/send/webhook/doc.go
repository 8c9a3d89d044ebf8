// Package webhook sends to any address that takes a POST.
//
//	text ──▶ POST application/json        {"id","key","text",…}
//	file ──▶ POST multipart/form-data     payload={"id","name","size","sha256",…}  file=…
//	           │
//	           └─ X-Honestty-Signature-256: sha256=HMAC(secret, timestamp "." payload)
//
// Rules:
//   - Each text and each file is a request of its own, so that each has an
//     answer of its own.
//   - The signature covers the payload, and the payload carries size and hash
//     of the file: a receiver that checks both has checked all of it, and no
//     file has to be read twice or held for it.
//   - A 2xx is success, and the answer is recorded. Where the receiver gives
//     ids, an answer without one is unknown.
package webhook
