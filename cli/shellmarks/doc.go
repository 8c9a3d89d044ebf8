// Package shellmarks has the code with which a shell marks its prompts and
// commands, so that a window knows where an output begins and how it ended.
//
//	PS1 ──▶ A prompt B input ⏎ C output D;code A …      OSC 133
//
// Rules:
//   - It is printed and never installed: what a shell reads at its start is its
//     owner's.
//   - It changes nothing that can be seen: $? stays, the prompt keeps its width,
//     what others hooked in stays hooked in.
//   - No mark is made up. An empty line has no output and no code.
package shellmarks
