// Feeds programs to @xterm/headless, for vt/differential_test.go. Requests and
// answers are one JSON object a line: {cols, rows, data} in base64, and
// {lines, x, y}; or {failed} when the library throws.
const { Terminal } = require('@xterm/headless');
const readline = require('readline');

async function answer({ cols, rows, data }) {
  const t = new Terminal({ cols, rows, scrollback: 200, allowProposedApi: true });
  await new Promise((done) => t.write(Buffer.from(data, 'base64'), done));
  const b = t.buffer.active;
  const lines = [];
  for (let i = 0; i < b.length; i++) lines.push(b.getLine(i).translateToString(true));
  return { lines, x: b.cursorX, y: b.cursorY };
}

// The library throws from a timer; the program that did it is reported.
process.on('uncaughtException', (e) => {
  console.log(JSON.stringify({ failed: String(e) }));
  process.exit(1);
});

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await answer(JSON.parse(line))));
  }
})();
