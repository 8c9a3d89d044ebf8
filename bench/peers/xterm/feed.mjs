// Feeds a file to xterm.js and prints what that cost, in the form that
// `bench feed` prints for honestty's own engine.
//
//   node --expose-gc feed.mjs feed COLS ROWS SCROLLBACK WARM-MS BUDGET-MS FILE
//
// Both times are CPU time. A budget of 0 feeds the file once, which is how
// memory is measured.

import { readFileSync } from 'node:fs';
import xterm from '@xterm/headless';

// chunk is how much is written at once, the same for every engine. A burst is
// how many are written before waiting, so that the engine's own timer between
// writes costs little; it is far below the 50 MB where the engine refuses.
const chunk = 32 << 10;
const burst = 8;

const [cols, rows, scrollback, warm, budget] = process.argv.slice(3, 8).map(Number);
const data = readFileSync(process.argv[8]);
const held = () => {
  globalThis.gc();
  const m = process.memoryUsage();
  return m.heapUsed + m.external;
};
const before = held();
const term = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true });

// cpuTime is what this process has used, user and system, in milliseconds.
const cpuTime = () => {
  const u = process.cpuUsage();
  return (u.user + u.system) / 1000;
};

// write feeds the file once, or until the process has used end of CPU time,
// and returns how much it fed.
async function write(end) {
  let fed = 0;
  while (fed < data.length) {
    await new Promise((done) => {
      for (let i = 0; i < burst && fed < data.length; i++) {
        const part = data.subarray(fed, fed + chunk);
        fed += part.length;
        term.write(part, i === burst - 1 || fed === data.length ? done : undefined);
      }
    });
    if (cpuTime() > end) break;
  }
  return fed;
}

const result = { bytes: 0, cpu_ns: 0, allocs: -1, held: -1, lines: 0 };
if (budget === 0) {
  result.bytes = await write(Infinity);
  result.held = held() - before;
} else {
  await write(cpuTime() + warm);
  const start = cpuTime();
  while (result.bytes === 0 || cpuTime() < start + budget) result.bytes += await write(start + budget);
  result.cpu_ns = Math.round((cpuTime() - start) * 1e6);
}
result.lines = term.buffer.normal.length - rows;
console.log(JSON.stringify(result));
process.exit(0);
