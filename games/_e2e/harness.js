// The server, the browser and the waiting that the tests share.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

export const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const DEADLINE = 30_000; // milliseconds; generous, since CI machines are slow and busy

export const scratch = await mkdtemp(path.join(tmpdir(), "gamehoster-e2e-"));
const shots = process.env.E2E_SHOTS ?? path.join(tmpdir(), "gamehoster-shots");
await mkdir(shots, { recursive: true });
after(() => rm(scratch, { recursive: true, force: true }));

let built;

// binary gives the path of the program under test, building it at most once.
export function binary() {
  if (process.env.GAMEHOSTER_BIN) return path.resolve(process.env.GAMEHOSTER_BIN);
  built ??= (async () => {
    const out = path.join(scratch, "gamehoster");
    await promisify(execFile)("go", ["build", "-o", out, "./cmd/gamehoster"], { cwd: PROJECT });
    return out;
  })();
  return built;
}

export async function freePort() {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

// until asks again and again for something true and returns it.
export async function until(what, ask, deadline = DEADLINE) {
  const end = Date.now() + deadline;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    assert.ok(Date.now() < end, `did not happen in ${deadline / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// Server is a gamehoster dev on a copy of the sample games, on one port for as
// long as the test lasts, however often it is killed and started.
export class Server {
  #child;
  #output = "";
  #flags;

  // flags are those of gamehoster dev; rules are files of the games to replace, by path.
  static async start(t, { flags = [], rules = {} } = {}) {
    const server = new Server();
    server.#flags = flags;
    server.dir = await mkdtemp(path.join(scratch, "games-"));
    // Without what a build writes, which another process may be writing right now.
    const source = (file) => !/^(\.|gamehoster\.)/.test(path.basename(file));
    await cp(path.join(PROJECT, "games/localhost"), path.join(server.dir, "localhost"), { recursive: true, filter: source });
    for (const [file, text] of Object.entries(rules)) await writeFile(path.join(server.dir, "localhost", file), text);
    server.port = await freePort();
    server.origin = `http://127.0.0.1:${server.port}`;
    t.after(() => server.kill());
    await server.run();
    return server;
  }

  async run() {
    this.#output = "";
    const child = spawn(await binary(), [
      "dev", path.join(this.dir, "localhost"), "--port", `${this.port}`, "--bind", "127.0.0.1", ...this.#flags,
    ]);
    this.#child = child;
    const keep = (chunk) => { this.#output += chunk; };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    await until("the server answers", async () => {
      assert.equal(child.exitCode, null, `the server ended:\n${this.#output}`);
      try {
        return (await fetch(`${this.origin}/asteroids/`)).ok;
      } catch {
        return false; // not listening yet
      }
    });
  }

  // kill ends the process the hard way, as a crash would.
  async kill() {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  // instances tells what the server knows of a game's running instances.
  async instances(game) {
    const answer = await fetch(`${this.origin}/_dev/stats`);
    assert.equal(answer.status, 200);
    return (await answer.json()).games[game]?.instances ?? [];
  }

  get output() {
    return this.#output;
  }
}

// Browser is one Chromium with a profile of its own.
export class Browser {
  #chromium;
  #players = [];

  // args are further ones of Chromium.
  static async start(t, { args = [] } = {}) {
    const browser = new Browser();
    browser.#chromium = await chromium.launch({
      executablePath: process.env.CHROMIUM_BIN ?? "/usr/bin/chromium",
      headless: true,
      args: [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", ...args,
      ],
    });
    t.after(() => browser.#close());
    return browser;
  }

  async #close() {
    try {
      for (const player of this.#players) await player.checkComplaints();
    } finally {
      await this.#chromium.close();
    }
  }

  // open loads a page in a context of its own, as another person's browser would. before
  // runs in the page before its scripts do; site answers what the page asks an origin for.
  async open(url, { touch = false, size = { width: 1280, height: 720 }, before, site } = {}) {
    const context = await this.#chromium.newContext({ viewport: size, hasTouch: touch, isMobile: touch });
    const page = await context.newPage();
    const player = new Player(page);
    this.#players.push(player);
    await page.addInitScript(watchPage);
    if (before) await page.addInitScript(before);
    if (site) await page.route(`${site.origin}/**`, (route) => site.answer(route));
    await page.goto(url);
    return player;
  }
}

// watchPage runs in the page before its own scripts.
function watchPage() {
  globalThis.violations = [];
  addEventListener("securitypolicyviolation", (event) => {
    globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
  });
}

// Player is a page with a person before it.
export class Player {
  complaints = [];
  // What a test that kills the server lets the browser say.
  allowed = [];

  constructor(page) {
    this.page = page;
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(error.stack ?? `${error}`));
  }

  // see evaluates in the page until the answer is true, and returns it.
  async see(what, ask, argument) {
    try {
      const handle = await this.page.waitForFunction(ask, argument, { timeout: DEADLINE, polling: "raf" });
      return await handle.jsonValue();
    } catch (error) {
      assert.fail(`did not see: ${what} (${error.message.split("\n")[0]}); complaints: ${this.complaints.join("; ") || "none"}`);
    }
  }

  ready() {
    return this.see("a seat in a running game", () => globalThis.game?.me && globalThis.game.tick > 0);
  }

  names(count) {
    return this.see(`${count} players`, (count) => {
      const names = Array.from(globalThis.game?.players ?? [], (player) => player.nick);
      return names.length === count && names.sort();
    }, count);
  }

  // record keeps the hash of every state that the page takes from the server.
  record() {
    return this.page.evaluate(() => {
      const seen = new Map();
      globalThis.seen = seen;
      requestAnimationFrame(function look() {
        const state = globalThis.game.hash();
        if (state.tick > 0) seen.set(state.tick, state.hash);
        if (globalThis.seen === seen) requestAnimationFrame(look);
      });
    });
  }

  async recorded() {
    return new Map(await this.page.evaluate(() => [...globalThis.seen]));
  }

  async shot(name) {
    const file = path.join(shots, `${name}.png`);
    await this.page.screenshot({ path: file });
    return file;
  }

  async checkComplaints() {
    const violations = this.page.isClosed() ? [] : await this.page.evaluate(() => globalThis.violations);
    const said = [...this.complaints, ...violations].filter((line) => !this.allowed.some((pattern) => pattern.test(line)));
    assert.deepEqual(said, [], "the page complained");
  }
}

// converge demands that all players and the server had the same state at no less
// than so many common ticks.
export async function converge(server, game, players, ticks) {
  await Promise.all(players.map((player) => player.record()));
  const servers = new Map();
  await until(`${ticks} common ticks`, async () => {
    for (const instance of await server.instances(game)) {
      for (const [tick, hash] of instance.hashes) servers.set(`${instance.name} ${tick}`, hash);
    }
    const all = await Promise.all(players.map((player) => player.recorded()));
    const name = await players[0].page.evaluate(() => globalThis.game.name);
    let common = 0;
    for (const [tick, hash] of all[0]) {
      const hashes = [servers.get(`${name} ${tick}`), ...all.slice(1).map((seen) => seen.get(tick))];
      if (hashes.includes(undefined)) continue;
      if (hashes.some((other) => other !== hash)) await differ(tick, [hash, ...hashes], players);
      common++;
    }
    return common >= ticks;
  });
}

// differ fails with what can be known about a difference: whose state it is, and
// what the pages measured.
async function differ(tick, [first, servers, ...others], players) {
  const all = [first, ...others];
  const lines = await Promise.all(players.map(async (player, i) => {
    const stats = await player.page.evaluate(() => JSON.stringify(globalThis.game.stats));
    return `page ${i + 1} ${all[i]} ${stats}`;
  }));
  assert.fail([`states differ at tick ${tick}`, `server ${servers}`, ...lines].join("\n"));
}
