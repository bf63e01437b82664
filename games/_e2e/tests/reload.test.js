import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { Browser, Server, converge, until } from "../harness.js";

// look is what a page knows of its seat.
const look = (player) => player.page.evaluate(() => ({ id: game.me.id, name: game.name, tick: game.tick, born: performance.timeOrigin }));

// fresh waits until a page has been loaded anew and plays again.
const fresh = (player, { born }) => player.see("a new page", (born) => performance.timeOrigin !== born && globalThis.game?.me && game.tick > 0, born);

test("rules that are saved go on with the game that is played, and everybody in it", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/pong/?name=Ada`);
  const bob = await browser.open(`${server.origin}/pong/?name=Bob`);
  const pages = [ada, bob];
  await Promise.all(pages.map((page) => page.names(2)));
  await ada.see("the ball in play", () => game.instance.vx !== 0);
  const before = await Promise.all(pages.map(look));

  const file = path.join(server.dir, "localhost/pong/player.js");
  await writeFile(file, (await readFile(file, "utf8")).replace("const SPEED = 640;", "const SPEED = 320;"));
  await Promise.all(pages.map((page, i) => fresh(page, before[i])));
  await until("the author is told", () => /pong: reloaded, .*games go on where they were/.test(server.output));
  await Promise.all(pages.map((page) => page.names(2)));
  const after = await Promise.all(pages.map(look));
  for (const [i, { id, name, tick }] of after.entries()) {
    assert.deepEqual([id, name], [before[i].id, before[i].name], "another seat");
    assert.ok(tick > before[i].tick, `from tick ${before[i].tick} to ${tick}`);
  }
  assert.equal((await server.instances("pong")).length, 1);
  await converge(server, "pong", pages, 20);

  // A field more is another state: the game begins anew, in the same room.
  const definition = path.join(server.dir, "localhost/pong/gamehoster-game.json");
  const game = JSON.parse(await readFile(definition, "utf8"));
  game.player.fields.wins = "u8 shared";
  await writeFile(definition, JSON.stringify(game));
  await Promise.all(pages.map((page, i) => fresh(page, after[i])));
  await until("the author is told", () => /pong: reloaded, .*games begin anew, for/.test(server.output));
  assert.deepEqual(await ada.names(2), ["Ada", "Bob"]);
  const anew = await Promise.all(pages.map(look));
  assert.deepEqual(anew.map(({ name }) => name), after.map(({ name }) => name));
  assert.equal((await server.instances("pong")).length, 1);
  await ada.see("the new field", () => game.me.wins === 0);
  await converge(server, "pong", pages, 20);
});
