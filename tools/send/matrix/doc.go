// Package matrix sends to rooms of a Matrix server.
//
//	text ──▶ PUT  …/rooms/ROOM/send/m.room.message/TXN ──▶ event id
//	file ──▶ POST …/media/v3/upload ──▶ mxc://…           nobody sees it yet
//	         PUT  …/rooms/ROOM/send/m.room.message/TXN ──▶ event id
//
// Rules:
//   - A file takes two steps with two outcomes. What breaks in the first put
//     nothing in the room, and that is certain. What breaks in the second is
//     unknown.
//   - TXN is the key of the text or item. The server takes a second request
//     with the same one for the first, so that a person may safely have it
//     tried again. It is not tried again unasked.
package matrix
