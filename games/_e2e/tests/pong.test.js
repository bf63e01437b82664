import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { Browser, Server, converge, until } from "../harness.js";

test("two players rally, a third waits in an instance of its own", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/pong/?name=Ada`);
  await ada.ready();
  await ada.shot("pong-waiting");
  const bob = await browser.open(`${server.origin}/pong/?name=Bob`);
  await bob.ready();
  assert.deepEqual(await ada.names(2), ["Ada", "Bob"]);
  const sides = await ada.see("both ends taken", () => {
    const sides = Array.from(game.players, (player) => player.side);
    return sides[0] !== sides[1] && sides;
  });
  assert.deepEqual(sides.sort(), [0, 1]);

  const eve = await browser.open(`${server.origin}/pong/?name=Eve`);
  await eve.ready();
  assert.deepEqual(await eve.names(1), ["Eve"]);
  assert.equal((await server.instances("pong")).length, 2);

  await ada.page.keyboard.down("ArrowUp");
  await bob.see("Ada's paddle at the top", () => Array.from(game.players).some((player) => player.nick === "Ada" && player.y < 60));
  await ada.page.keyboard.up("ArrowUp");
  await bob.page.mouse.move(600, 200);
  await bob.page.mouse.down();
  await bob.page.mouse.move(600, 600, { steps: 5 });
  await ada.see("Bob's paddle where the mouse is", () => Array.from(game.players).some((player) => player.nick === "Bob" && player.y > 450));
  await bob.page.mouse.up();
  await ada.see("the ball in play", () => game.instance.pause === 0 && Math.abs(game.instance.vx) > 100);
  await ada.shot("pong");
  await converge(server, "pong", [ada, bob], 40);
  await ada.see("a point", () => Array.from(game.players).some((player) => player.score > 0));
  await converge(server, "pong", [ada, bob], 10);
});

test("who is left waits, and a newcomer starts a new match", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/pong/?name=Ada`);
  const bob = await browser.open(`${server.origin}/pong/?name=Bob`);
  await Promise.all([ada.names(2), bob.names(2)]);
  await bob.page.close();
  assert.deepEqual(await ada.names(1), ["Ada"]);
  await ada.see("the ball at rest", () => game.instance.vx === 0 && game.instance.ballX === 500);
  const eve = await browser.open(`${server.origin}/pong/?name=Eve`);
  assert.deepEqual(await eve.names(2), ["Ada", "Eve"]);
  await ada.see("the ball in play", () => game.instance.vx !== 0);
});

test("a finger drags the paddle", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/pong/?name=Ada`, { touch: true, size: { width: 844, height: 390 } });
  await ada.ready();
  const touch = await ada.page.context().newCDPSession(ada.page);
  const finger = (type, ...touchPoints) => touch.send("Input.dispatchTouchEvent", { type, touchPoints });
  await finger("touchStart", { x: 400, y: 200 });
  await finger("touchMove", { x: 400, y: 40 });
  await ada.see("the paddle under the finger", () => game.me.y < 100);
  await finger("touchMove", { x: 400, y: 360 });
  await ada.see("the paddle under the finger", () => game.me.y > 500);
  await finger("touchEnd");
});

test("a rule that is saved reaches the pages that are open", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/pong/?name=Ada`);
  await ada.ready();
  const born = await ada.page.evaluate(() => performance.timeOrigin);
  const file = path.join(server.dir, "localhost/pong/player.js");
  const rules = await readFile(file, "utf8");

  // A mistake leaves the live game as it is.
  await writeFile(file, rules.replace("const SPEED = 640;", "const SPEED = speed;"));
  await until("the mistake is reported", () => /player\.js:[0-9]+:[0-9]+: .*speed/.test(server.output));
  await ada.see("the game going on", (tick) => game.tick > tick, await ada.page.evaluate(() => game.tick + 30));

  await writeFile(file, rules.replace("const SPEED = 640;", "const SPEED = 6400;"));
  await ada.see("a new page", (born) => performance.timeOrigin !== born && globalThis.game?.me, born);
  // The paddle now goes ten times as far in a tick as it did. Frames are drawn here as
  // fast as they can be: those of a busy browser are many ticks apart.
  const most = await ada.page.evaluate(() => {
    const look = () => ({ y: game.me.y, at: game.stats.present });
    let most = 0;
    let last = look();
    game.send.aim({ y: 0 });
    for (const end = performance.now() + 1000; last.y > 60 && performance.now() < end;) {
      game.frame(performance.now());
      const is = look();
      if (is.at - last.at < 0.2) continue;
      most = Math.max(most, (last.y - is.y) / (is.at - last.at));
      last = is;
    }
    return most;
  });
  assert.ok(most > 3 * (640 / 60), `at most ${most} units a tick`);
});

test("a page's file that is saved reaches the pages that are open, and they keep their seats", async (t) => {
  // Seats are kept for as long as a busy machine takes to load a page.
  const game = JSON.parse(await readFile(new URL("../../localhost/pong/gamehoster-game.json", import.meta.url), "utf8"));
  const server = await Server.start(t, { rules: { "pong/gamehoster-game.json": JSON.stringify({ ...game, resumeSeconds: 60 }) } });
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/pong/?name=Ada`);
  const bob = await browser.open(`${server.origin}/pong/?name=Bob`);
  await Promise.all([ada.names(2), bob.names(2)]);
  const before = await ada.page.evaluate(() => ({ id: game.me.id, name: game.name, tick: game.tick, born: performance.timeOrigin }));
  const page = path.join(server.dir, "localhost/pong/page/index.html");
  await writeFile(page, (await readFile(page, "utf8")).replace("<title>Pong</title>", "<title>Ping</title>"));
  await ada.see("the new page", () => document.title === "Ping");
  await until("the author is told", () => /pong: page saved; open pages are told to reload/.test(server.output));
  await Promise.all([ada.names(2), bob.names(2)]);
  const after = await ada.page.evaluate(() => ({ id: game.me.id, name: game.name, tick: game.tick }));
  assert.deepEqual([after.id, after.name], [before.id, before.name], "another seat");
  assert.ok(after.tick > before.tick);
  // what the games share is any game's
  const shared = path.join(server.dir, "localhost/_shared/page/frame.css");
  await writeFile(shared, `${await readFile(shared, "utf8")}\n#view { opacity: .5; }\n`);
  await bob.see("the shared style", () => getComputedStyle(document.getElementById("view")).opacity === "0.5");
  await Promise.all([ada.names(2), bob.names(2)]);
});

test("the figures stand beside the table, whatever the window", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  for (const size of [{ width: 1280, height: 720 }, { width: 844, height: 390 }, { width: 390, height: 844 }, { width: 800, height: 500 }]) {
    const ada = await browser.open(`${server.origin}/pong/?name=Ada`, { size });
    await ada.ready();
    const top = await ada.see("figures", () => document.getElementById("stats").textContent && document.getElementById("stats").getBoundingClientRect().top);
    // a paddle at the very bottom ends where the table does
    const pixels = await ada.page.evaluate(() => new Promise((resolve) => {
      game.send.aim({ y: 600 });
      requestAnimationFrame(function look() {
        if (game.me.y < 551.5) {
          requestAnimationFrame(look);
          return;
        }
        const canvas = document.getElementById("view");
        const ratio = canvas.height / innerHeight;
        const column = canvas.getContext("2d").getImageData(0, 0, canvas.width / 2, canvas.height);
        let last = 0;
        for (let i = 0; i < column.data.length; i += 4) {
          // the paddle's core is the brightest there is
          if (column.data[i + 1] > 200 && column.data[i + 2] > 200) last = Math.floor(i / 4 / column.width);
        }
        resolve(last / ratio);
      });
    }));
    await ada.shot(`pong-${size.width}x${size.height}`);
    assert.ok(pixels > size.height / 3 && pixels <= top, `the paddle reaches down to ${pixels}, the figures begin at ${top} of ${size.height}`);
    await ada.page.close();
  }
});
