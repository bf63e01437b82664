import assert from "node:assert/strict";
import test from "node:test";
import { Browser } from "../harness.js";
import { Box, Caddy, Website, WEBSITE } from "../production.js";

test("a website's page plays by way of Caddy, and plays on when Caddy's configuration is loaded anew", async (t) => {
  const box = await Box.start(t, "pong");
  const caddy = await Caddy.start(t, box);
  const site = new Website("pong", caddy);
  const browser = await Browser.start(t, { args: caddy.args });
  const join = async (name) => {
    const player = await browser.open("about:blank", { site });
    player.sockets = [];
    player.page.on("websocket", (socket) => player.sockets.push(socket.url()));
    await player.page.goto(`${WEBSITE}/?name=${name}`);
    await player.ready();
    return player;
  };
  const ada = await join("Ada");
  const bob = await join("Bob");
  assert.deepEqual(await ada.names(2), ["Ada", "Bob"]);
  for (const player of [ada, bob]) {
    assert.ok(player.sockets[0].startsWith(`${caddy.origin.replace("https:", "wss:")}/pong?`), player.sockets[0]);
  }
  // steer holds a key of Ada's until Bob sees where it has brought her paddle.
  const steer = async (key, there) => {
    await ada.page.keyboard.down(key);
    await bob.see(`Ada's paddle after ${key}`, there);
    await ada.page.keyboard.up(key);
  };
  await steer("ArrowUp", () => Array.from(game.players).some((player) => player.nick === "Ada" && player.y < 60));
  await ada.shot("pong-caddy");

  const seats = await Promise.all([ada, bob].map((player) => player.page.evaluate(() => ({ id: game.me.id, name: game.name, tick: game.tick }))));
  await caddy.reload();
  for (const [i, player] of [ada, bob].entries()) {
    await player.see("the game going on", (tick) => game.me && game.tick > tick + 120, seats[i].tick);
    const { id, name } = await player.page.evaluate(() => ({ id: game.me.id, name: game.name }));
    assert.deepEqual({ id, name }, { id: seats[i].id, name: seats[i].name }, "another seat");
  }
  assert.deepEqual(await ada.names(2), ["Ada", "Bob"]);
  await steer("ArrowDown", () => Array.from(game.players).some((player) => player.nick === "Ada" && player.y > 540));
});
