// Lanterns: a game in which each player is sent what view.js lets it see, on a line of 150
// to 200 ms each way. What the server has is told to the pages themselves, by rows of a
// type that the tests add to the game and that no view judges; what a player may see of it
// is asked of the game's own view.js, which is JavaScript for Node as well.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { Browser, Server } from "../harness.js";

const SPEED = 230; // units a second, as in lanterns/player.js
const TICKS = 30; // a second
const RADIUS = 900; // as in the definition
const RIM = 1.125; // how much further what is held may be
const TYPES = ["player", "ember", "moth", "flare"];
const lagged = ["--lag", "150ms", "--jitter", "50ms"];
const sample = (file) => readFile(new URL(`../../localhost/lanterns/${file}`, import.meta.url), "utf8");

// told makes the game tell each page all that there is, puts the moths near the players, and
// gives lanterns oil that lasts and flares that do not.
async function told() {
  const definition = JSON.parse(await sample("gamehoster-game.json"));
  const number = "f64 sent";
  definition.entities.truth = { max: 256, fields: { kind: number, thing: number, x: number, y: number, oil: number } };
  definition.bytesPerSend = 1 << 20; // nothing waits for room
  const list = TYPES.map((type, kind) => `for (const o of game.${type}s) note(${kind}, o.id, o.x, o.y, ${type === "player" ? "o.oil" : 0});`);
  const instance = (await sample("instance.server.js"))
    .replaceAll(/moth\.([xy]) = serverRandom\(\) \* SIZE/g, "moth.$1 = SIZE / 2 + 600 * (serverRandom() - 0.5)")
    .replace("if (game.tick % EMBER_TICKS === 0) kindle();", `$&
  for (const t of game.truths) t.remove();
  ${list.join("\n  ")}`);
  return {
    "lanterns/field.js": (await sample("field.js")).replace("FULL = 1000", "FULL = 60000").replace("FLARE_TICKS = 240", "FLARE_TICKS = 90"),
    "lanterns/gamehoster-game.json": JSON.stringify(definition),
    "lanterns/instance.server.js": `${instance}
function note(kind, thing, x, y, oil) {
  const t = game.truths.spawn();
  if (!t) return;
  t.kind = kind;
  t.thing = thing;
  t.x = x;
  t.y = y;
  t.oil = oil;
}
`,
  };
}

// keep has the page write down what it holds at each send tick and what it is told that
// there is, and complain of what it draws without holding it.
function keep(player) {
  return player.page.evaluate((types) => {
    const read = { u16: "getUint16", f32: "getFloat32", f64: "getFloat64" };
    const { confirmed } = game.core;
    const { world } = confirmed;
    const plan = (name) => world.plan.types.find((t) => t.name === name);
    function rows(name, fields) {
      const t = plan(name);
      const at = fields.map((f) => t.fields.find((field) => field.name === f));
      return Array.from({ length: world.count(t) }, (_, i) => {
        const row = world.row(t, i);
        return [world.id(row), ...at.map((f) => world.view[read[f.kind]](row + f.offset, true))];
      });
    }
    const apply = confirmed.apply.bind(confirmed);
    globalThis.book = [];
    confirmed.apply = (send) => {
      apply(send);
      book.push({
        tick: world.tick,
        held: types.map((name) => rows(name, ["x", "y"])),
        truth: rows("truth", ["kind", "thing", "x", "y", "oil"]).map(([, ...row]) => row),
      });
    };

    globalThis.wrong = [];
    globalThis.heard = []; // what came and went, and when
    const shown = new Set([...game.players, ...types.slice(1).flatMap((name) => [...game.entities[name]])]);
    const come = (thing, type) => {
      if (!types.includes(type)) return;
      if (shown.has(thing)) wrong.push(`${type} ${thing.id} came twice`);
      shown.add(thing);
      heard.push({ come: true, type, id: thing.id, at: performance.now() });
    };
    const go = (thing, type) => {
      if (!types.includes(type)) return;
      if (!shown.delete(thing)) wrong.push(`${type} ${thing.id} went without having come`);
      heard.push({ come: false, type, id: thing.id, at: performance.now() });
    };
    game.on("join", come);
    game.on("enter", come);
    game.on("drop", go);
    game.on("leave", go);
    requestAnimationFrame(function look() {
      requestAnimationFrame(look);
      let n = 0;
      for (const name of types) {
        const t = plan(name);
        for (const thing of name === "player" ? game.players : game.entities[name]) {
          n++;
          if (!shown.has(thing)) wrong.push(`${name} ${thing.id} is there and has not come`);
          if (thing.id >= 2 ** 31 && name === "flare" && thing.owner === game.me) continue; // of the page's own making
          if (!world.find(t, thing.id)) wrong.push(`${name} ${thing.id} is drawn and not held`);
        }
      }
      if (n !== shown.size) wrong.push(`${shown.size} things have come, ${n} are there`);
    });
  }, TYPES);
}

// judged holds what a page held at each send tick against what view.js says of what the
// server had then. The n-th send's "held" is what the page had with the one before.
async function judged(t, server, player) {
  await writeFile(path.join(server.dir, "package.json"), '{ "type": "module" }');
  const view = await import(pathToFileURL(path.join(server.dir, "localhost/lanterns/view.js")));
  const { book, me, wrong } = await player.page.evaluate(() => ({ book, me: game.me.id, wrong }));
  assert.deepEqual(wrong, []);
  let before = null;
  let [seen, hidden] = [0, 0];
  for (const { tick, held, truth } of book) {
    const things = truth.map(([kind, id, x, y, oil]) => ({ kind, id, x, y, oil }));
    globalThis.game = { players: things.filter((o) => o.kind === 0), flares: things.filter((o) => o.kind === 3) };
    const viewer = things.find((o) => o.kind === 0 && o.id === me);
    const has = new Map(held.flatMap((list, kind) => list.map(([id, x, y]) => [id, { kind, x, y }])));
    for (const o of before && viewer ? things : []) {
      const had = before.has(o.id);
      const reach = (o.x - viewer.x) ** 2 + (o.y - viewer.y) ** 2 <= (had ? RADIUS * RIM : RADIUS) ** 2;
      const may = o === viewer || (reach && view[TYPES[o.kind]](viewer, o, had));
      const place = has.get(o.id);
      assert.equal(has.has(o.id), may, `tick ${tick}: ${TYPES[o.kind]} ${o.id}`);
      may ? seen++ : hidden++;
      has.delete(o.id);
      if (place) assert.deepEqual(place, { kind: o.kind, x: o.x, y: o.y }, `tick ${tick}: ${TYPES[o.kind]} ${o.id} is where the server has it`);
    }
    if (before && viewer) assert.deepEqual([...has], [], `tick ${tick}: held, and not on the server`);
    before = new Set(held.flatMap((list) => list.map(([id]) => id)));
  }
  delete globalThis.game;
  t.diagnostic(`${book.length} sends: ${seen} things were held, ${hidden} were not`);
  assert.ok(seen > 0 && hidden > seen, "nothing was hidden");
  return book;
}

// walk sends a player somewhere, relative to where it is, and returns when it is there.
function walk(player, dx, dy) {
  return player.page.evaluate(([dx, dy]) => new Promise((resolve) => {
    const to = { x: game.me.x + dx, y: game.me.y + dy };
    requestAnimationFrame(function step() {
      const [x, y] = [to.x - game.me.x, to.y - game.me.y];
      const far = Math.hypot(x, y);
      if (far < 60) {
        game.send.walk({ x: 0, y: 0 });
        resolve();
        return;
      }
      game.send.walk({ x: x / far, y: y / far });
      setTimeout(() => requestAnimationFrame(step), 60);
    });
  }), [dx, dy]);
}

async function open(t, server, browser, ...names) {
  const players = [];
  for (const name of names) players.push(await browser.open(`${server.origin}/lanterns/?name=${name}`));
  for (const player of players) {
    await player.names(names.length);
    await player.see("a measured line", () => game.stats.ping >= 300 && game.stats.lead > 4);
    await keep(player);
  }
  return players;
}

test("walked by keys, mouse and finger; the secret stays on the server and what is one's own with one", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/lanterns/?name=Ada`);
  const bob = await browser.open(`${server.origin}/lanterns/?name=Bob`, { touch: true, size: { width: 390, height: 844 } });
  await Promise.all([ada.names(2), bob.names(2)]);
  await ada.page.keyboard.down("ArrowRight");
  await bob.see("Ada walking", () => Array.from(game.players).some((p) => p.nick === "Ada" && p.walkX === 1));
  await ada.page.keyboard.up("ArrowRight");
  const touch = await bob.page.context().newCDPSession(bob.page);
  const finger = (type, ...touchPoints) => touch.send("Input.dispatchTouchEvent", { type, touchPoints });
  await finger("touchStart", { x: 100, y: 600 });
  await finger("touchMove", { x: 100, y: 500 });
  await ada.see("Bob walking up", () => Array.from(game.players).some((p) => p.nick === "Bob" && p.walkY === -1));
  await finger("touchEnd");
  await ada.see("Bob at rest", () => Array.from(game.players).some((p) => p.nick === "Bob" && p.walkY === 0));
  await finger("touchStart", { x: 300, y: 300 });
  await finger("touchEnd");
  await ada.see("Bob's flare", () => Array.from(game.entities.flare).some((flare) => flare.owner?.nick === "Bob"));
  await ada.page.keyboard.press("Space");
  await bob.see("Ada's flare", () => Array.from(game.entities.flare).some((flare) => flare.owner?.nick === "Ada"));
  await ada.see("bars", () => document.getElementById("oil").value > 0 && document.getElementById("warmth").value > 0);
  await Promise.all([ada.shot("lanterns"), bob.shot("lanterns-narrow")]);

  const others = await ada.page.evaluate(() => Array.from(game.players, (p) => [p === game.me, p.warmth > 0]));
  assert.deepEqual(others.sort(), [[false, false], [true, true]]);
  const library = await (await fetch(`${server.origin}/lanterns/gamehoster.js`)).text();
  assert.doesNotMatch(library, /treasureX/);
});

test("who goes out of view is gone, who comes back is whole, and nothing is held that may not be seen", async (t) => {
  const server = await Server.start(t, { flags: lagged, rules: await told() });
  const browser = await Browser.start(t);
  const [ada, bob] = await open(t, server, browser, "Ada", "Bob");
  const id = await bob.page.evaluate(() => game.me.id);
  await bob.page.evaluate(() => game.send.flare({ x: 0, y: 0 })); // which draws moths

  // Ada goes where Bob's lantern is not seen, and comes back. Bob goes on walking.
  let going = true;
  const errand = (async () => {
    for (let turn = 0; going; turn++) await walk(bob, [150, 0, -150, 0][turn % 4], [0, 150, 0, -150][turn % 4]);
  })();
  const way = await ada.page.evaluate((id) => (game.me.x < game.players.get(id).x ? -1 : 1), id);
  await walk(ada, 1300 * way, 0);
  await ada.see("no Bob", (id) => !game.players.get(id), id);
  await walk(ada, -1300 * way, 0);
  await ada.see("Bob again", (id) => game.players.get(id), id);
  going = false;
  await errand;

  const book = await judged(t, server, ada);
  await judged(t, server, bob);
  const heard = await ada.page.evaluate(() => heard);
  const back = Object.fromEntries(TYPES.map((type) => {
    const gone = new Set();
    let n = 0;
    for (const h of heard.filter((h) => h.type === type)) {
      if (!h.come) gone.add(h.id);
      else if (gone.delete(h.id)) n++;
    }
    return [type, n];
  }));
  t.diagnostic(`came back into view: ${JSON.stringify(back)}`);
  for (const type of ["player", "moth", "ember"]) assert.ok(back[type] > 0, JSON.stringify(back));
  assert.ok(book.length > 100);
  const stats = await ada.page.evaluate(() => game.stats);
  t.diagnostic(JSON.stringify(stats));
  assert.deepEqual([stats.malformed, stats.reconnects, stats.faults], [0, 0, 0]);
});

test("the own avatar obeys in the next frame, and another's is off by no more than it can have walked unseen", async (t) => {
  const server = await Server.start(t, { flags: lagged });
  const browser = await Browser.start(t);
  const [ada, bob] = await (async () => {
    const players = [await browser.open(`${server.origin}/lanterns/?name=Ada`), await browser.open(`${server.origin}/lanterns/?name=Bob`)];
    for (const player of players) {
      await player.names(2);
      await player.see("a measured line", () => game.stats.ping >= 300 && game.stats.lead > 4);
    }
    return players;
  })();
  const id = await bob.page.evaluate(() => game.me.id);
  for (const player of [ada, bob]) {
    await player.page.evaluate((id) => {
      globalThis.followed = [];
      requestAnimationFrame(function look() {
        requestAnimationFrame(look);
        const bob = game.players.get(id);
        const { present, predicted, tick } = game.stats;
        if (bob) followed.push({ at: present, ahead: predicted + 1 - tick, x: bob.x, y: bob.y });
      });
    }, id);
  }
  await bob.page.evaluate(() => {
    globalThis.answers = [];
    let pressed = null;
    addEventListener("keydown", (event) => {
      if (!event.repeat) pressed = { frames: 0, x: game.me.x, y: game.me.y };
    });
    requestAnimationFrame(function look() {
      requestAnimationFrame(look);
      if (!pressed) return;
      pressed.frames++;
      if (game.me.x === pressed.x && game.me.y === pressed.y) return;
      answers.push(pressed.frames);
      pressed = null;
    });
  });
  const keys = ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"];
  const presses = 16;
  for (let i = 0; i < presses; i++) {
    const key = keys[(i * i + (i >> 2)) % 4];
    await bob.page.keyboard.down(key);
    await bob.see("an answer", (n) => answers.length > n, i);
    await bob.see("some way", (tick) => game.tick >= tick, await bob.page.evaluate((n) => game.tick + n, 3 + (i * 5) % 11));
    await bob.page.keyboard.up(key);
    await bob.see("a rest", () => {
      const { x, y, walkX, walkY } = game.me;
      const still = globalThis.was?.x === x && was.y === y && walkX === 0 && walkY === 0;
      globalThis.was = { x, y };
      return still;
    });
  }
  const answers = await bob.page.evaluate(() => answers);
  t.diagnostic(`frames from the key press to the first that shows it: ${answers.join(" ")}`);
  assert.deepEqual(answers, Array(presses).fill(1));

  // A walker turns on the spot, so while its commands are on their way it may walk as far
  // from where it is drawn, and as far again the other way; half as much may be on its way
  // out by easing.
  const [seen, truth] = await Promise.all([ada, bob].map((player) => player.page.evaluate(() => followed)));
  const errors = [];
  for (const [i, s] of seen.entries()) {
    const k = truth.findIndex((other) => other.at >= s.at);
    if (k < 1 || truth[k].at - truth[k - 1].at > 3) continue;
    const part = (s.at - truth[k - 1].at) / (truth[k].at - truth[k - 1].at);
    const at = (key) => truth[k - 1][key] + (truth[k][key] - truth[k - 1][key]) * part;
    const blind = (Math.max(...seen.slice(Math.max(0, i - 8), i + 1).map((s) => s.ahead)) + 2) / TICKS;
    const error = Math.hypot(s.x - at("x"), s.y - at("y"));
    assert.ok(error <= 1.5 * 2 * SPEED * blind, `off by ${error} with ${blind} s unseen`);
    errors.push(error);
  }
  errors.sort((a, b) => a - b);
  t.diagnostic(`${errors.length} frames: off by ${errors[errors.length >> 1].toFixed(1)} units in the median, ${errors.at(-1).toFixed(1)} at most`);
  assert.ok(errors.length > 30);
});

test("a flare is one thing from the key press to the end, whoever makes it first", async (t) => {
  const server = await Server.start(t, { flags: lagged, rules: await told() });
  const browser = await Browser.start(t);
  const [ada, bob] = await open(t, server, browser, "Ada", "Bob");
  // A page that a busy machine holds up for a second takes a snapshot, which nothing goes
  // on through: then it is tried again.
  const flight = () => new Promise((resolve) => {
    let [first, frames, most, last] = [0, 0, 0, null];
    const { snapshots } = game.stats;
    heard.length = 0;
    const off = game.on("leave", (thing, type) => {
      if (type !== "flare") return;
      off();
      resolve({ first, frames, most, whole: game.stats.snapshots === snapshots });
    });
    game.send.flare({ x: 1, y: 0 });
    requestAnimationFrame(function look() {
      requestAnimationFrame(look);
      const flares = Array.from(game.entities.flare);
      frames++;
      if (frames === 1) first = flares.length === 1 ? flares[0].id : NaN;
      if (flares.length !== 1) return;
      const is = { x: flares[0].x, at: game.stats.present };
      if (last) most = Math.max(most, Math.abs(is.x - last.x) / Math.max(0.5, is.at - last.at));
      last = is;
    });
  });
  const calm = () => game.entities.flare.size === 0 && game.stats.predicted - game.stats.tick < 20;
  let seen;
  for (let tries = 0; tries < 4 && !seen?.whole; tries++) {
    await ada.see("no flare, and a page that keeps up", calm);
    seen = await ada.page.evaluate(flight);
  }
  const { first, frames, most } = seen;
  t.diagnostic(`${frames} frames; it moves at most ${most.toFixed(1)} units a tick`);
  assert.ok(first >= 2 ** 31, `the first frame has ${first}`);
  assert.ok(most <= 2 * 620 / TICKS, `it jumped by ${most}`);
  const heard = (await ada.page.evaluate(() => heard)).filter((h) => h.type === "flare");
  assert.deepEqual(heard.map((h) => h.come), [true, false]);
  assert.ok(heard[1].id < 2 ** 31, "it went on as the server's");
  await bob.see("the flare come and go", () => heard.some((h) => h.type === "flare" && !h.come) && game.entities.flare.size === 0);
  await judged(t, server, ada);
  await judged(t, server, bob);
});

test("what the page makes and may not see goes when the server has spoken", async (t) => {
  const view = (await sample("view.js")).replace("  return true;", "  return flare.owner !== viewer;");
  assert.match(view, /flare\(viewer, flare\) {\n  return flare.owner !== viewer/);
  const rules = await told();
  const server = await Server.start(t, { flags: lagged, rules: { ...rules, "lanterns/view.js": view } });
  const browser = await Browser.start(t);
  const [ada, bob] = await open(t, server, browser, "Ada", "Bob");
  await ada.page.evaluate(() => { game.send.flare({ x: 0, y: 1 }); });
  await ada.see("a flare of its own", () => heard.some((h) => h.type === "flare" && h.come && h.id >= 2 ** 31));
  await bob.see("the same flare", () => game.entities.flare.size === 1);
  await ada.see("none any more", () => heard.some((h) => h.type === "flare" && !h.come) && game.entities.flare.size === 0);
  await bob.see("it burnt down", () => game.entities.flare.size === 0);
  const flares = (await ada.page.evaluate(() => heard)).filter((h) => h.type === "flare");
  assert.deepEqual(flares.map((h) => [h.come, h.id >= 2 ** 31]), [[true, true], [false, true]]);
  t.diagnostic(`it was there for ${(flares[1].at - flares[0].at).toFixed(0)} ms`);
  const { book, wrong } = await ada.page.evaluate(() => ({ book, wrong }));
  assert.deepEqual(wrong, []);
  assert.ok(book.some(({ truth }) => truth.some(([kind]) => kind === 3)), "the server had none");
  for (const { held } of book) assert.deepEqual(held[3], [], "held a flare that it may not see");
});
