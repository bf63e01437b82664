// Steps games in Node for bench/bodies: one line of JSON in, one out.
// argv: flavour ("plain", "exact", "tracked"), the file of the job.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { runInThisContext } from "node:vm";

const [flavour, file] = process.argv.slice(2);
const job = JSON.parse(readFileSync(file, "utf8"));
const path = new URL("objects.js", import.meta.url).pathname;
const makeGame = runInThisContext(readFileSync(path, "utf8"), { filename: path });
const tracker = flavour === "tracked" ? (await import("./tracker.mjs")).tracker : null;
let game = makeGame(job, flavour, tracker);

function used() {
  for (let i = 0; i < 4; i++) globalThis.gc();
  const m = process.memoryUsage();
  return m.heapUsed + m.external;
}

function place({ states, n, from }) {
  const bytes = readFileSync(states);
  game.load(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), n, from);
}

let memory = 0;
const commands = {
  // Many games are weighed, few are not: collections take compiled code along.
  load(order) {
    if (order.n < 100) {
      place(order);
      return {};
    }
    game.load(new ArrayBuffer(0), 0, 0);
    const before = used();
    place(order);
    memory = used() - before;
    return {};
  },
  run({ ticks }) {
    const start = process.cpuUsage();
    game.run(ticks);
    const spent = process.cpuUsage(start);
    return { ns: (spent.user + spent.system) * 1000 };
  },
  dump({ states, n }) {
    const buffer = new ArrayBuffer(n * job.size);
    game.dump(buffer);
    writeFileSync(states, new Uint8Array(buffer));
    return {};
  },
  memory: () => ({ bytes: memory }),
  encode({ on }) {
    tracker.encode(on);
    return {};
  },
};

console.log(JSON.stringify({ version: process.version }));
for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  console.log(JSON.stringify(commands[c.do](c)));
}
