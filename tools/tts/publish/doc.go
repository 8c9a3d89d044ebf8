// Package publish puts one finished file where a user asked for it, and keeps
// what was there until that has worked.
//
//	Look ──▶ Target ──Begin──▶ Work: .honestty-speech-XXXX/ beside the target, 0700
//	                             │ everything is made in here
//	                             ├── Publish ── sync ▸ keep the old ▸ rename ▸ sync folder
//	                             │                └ fails: undone, the target is as it was
//	                             └── Close ──▶ the folder is gone
//
// Rules:
//   - Look changes nothing, and refuses before anything is paid for.
//   - Only what this call created is ever removed, and what it created is known
//     by inode: folders are held open and emptied through their descriptor.
//   - A path that was new stays new: it is taken with a rename that does not
//     replace. Of two writers one gets the path and the other a refusal.
//   - A file that is replaced is exchanged with the new one in one step, looked
//     at, and put back when it is not the file that was kept.
//   - A work folder is locked while its maker lives. Sweep removes those whose
//     maker is gone, and nothing else.
package publish
