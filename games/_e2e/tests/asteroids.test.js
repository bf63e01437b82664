import assert from "node:assert/strict";
import test from "node:test";
import { Browser, Server, converge, until } from "../harness.js";

test("two pages play in one instance and hold the server's state", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/?name=Ada`);
  const bob = await browser.open(`${server.origin}/asteroids/?name=Bob`);
  await Promise.all([ada.ready(), bob.ready()]);
  assert.deepEqual(await ada.names(2), ["Ada", "Bob"]);
  assert.deepEqual(await bob.names(2), ["Ada", "Bob"]);
  await ada.see("rocks", () => Array.from(game.entities.rock).length >= 4);
  await bob.see("its own ship", () => game.me.wait === 0);
  await ada.see("its own ship", () => game.me.wait === 0);

  const id = await ada.page.evaluate(() => game.me.id);
  const from = await bob.page.evaluate((id) => Array.from(game.players).find((player) => player.id === id).heading, id);
  await ada.page.keyboard.down("ArrowRight");
  await bob.see("Ada's ship turning", ([id, from]) => {
    const ship = Array.from(game.players).find((player) => player.id === id);
    return ship.turn === 1 && ship.heading !== from;
  }, [id, from]);
  await ada.page.keyboard.down("Space");
  await bob.page.keyboard.down("KeyW");
  await bob.see("Ada's bullets", (id) => Array.from(game.entities.bullet).some((bullet) => bullet.owner?.id === id), id);
  await ada.see("Bob's engine", (id) => Array.from(game.players).some((player) => player.id !== id && player.thrust), id);

  await converge(server, "asteroids", [ada, bob], 40);

  await ada.page.keyboard.up("ArrowRight");
  await ada.page.keyboard.up("Space");
  await bob.page.keyboard.up("KeyW");
  await bob.see("Ada's hands off", (id) => {
    const ship = Array.from(game.players).find((player) => player.id === id);
    return ship.turn === 0 && !ship.fire;
  }, id);
  await converge(server, "asteroids", [ada, bob], 10);
  await ada.shot("asteroids");
});

test("the figures in the corner are sane, and a key hides them", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/?name=Ada`);
  await ada.ready();
  const text = await ada.see("a ping", () => {
    const text = document.getElementById("stats").textContent;
    return /ping +[0-9]/.test(text) && /down +[1-9]/.test(text) && text;
  });
  const figure = (name) => Number(text.match(new RegExp(`${name} +([0-9]+)`))[1]);
  assert.ok(figure("ping") < 2000, text);
  assert.ok(figure("tick") > 0, text);
  assert.ok(figure("down") > 0 && figure("down") < 50_000, text);
  assert.ok(figure("up") < 10_000, text);
  await ada.page.keyboard.press("KeyI");
  assert.equal(await ada.page.locator("#stats").isVisible(), false);
  await ada.page.keyboard.press("KeyI");
  assert.equal(await ada.page.locator("#stats").isVisible(), true);
});

test("a name typed into the form is a name in the game", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/`);
  await ada.page.keyboard.type("Zoë \u{1F680}");
  await ada.page.keyboard.press("Enter");
  await ada.ready();
  assert.deepEqual(await ada.names(1), ["Zoë \u{1F680}"]);
  await ada.see("the name on the board", () => document.getElementById("board").textContent.includes("Zoë"));
  // Without an answer the rules find a name.
  const bob = await browser.open(`${server.origin}/asteroids/?name=`);
  await bob.ready();
  assert.deepEqual(await bob.names(2), ["Pilot", "Zoë \u{1F680}"]);
});

test("a page that reloads has its seat again, and the other sees it", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/?name=Ada`);
  const bob = await browser.open(`${server.origin}/asteroids/`);
  await bob.page.keyboard.type("Bob");
  await bob.page.keyboard.press("Enter");
  await Promise.all([ada.names(2), bob.names(2)]);
  const id = await bob.page.evaluate(() => game.me.id);
  await bob.page.reload();
  await bob.ready();
  assert.equal(await bob.page.evaluate(() => game.me.id), id);
  assert.deepEqual(await ada.names(2), ["Ada", "Bob"]);
  await bob.page.keyboard.down("ArrowLeft");
  await ada.see("the ship of the page that is back", (id) => {
    return Array.from(game.players).some((player) => player.id === id && player.turn === -1);
  }, id);
  await converge(server, "asteroids", [ada, bob], 20);
});

test("a page that goes leaves its seat, and one that comes later gets another", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/?name=Ada`);
  const bob = await browser.open(`${server.origin}/asteroids/?name=Bob`);
  await Promise.all([ada.names(2), bob.names(2)]);
  await bob.page.close();
  assert.deepEqual(await ada.names(1), ["Ada"]);
  const eve = await browser.open(`${server.origin}/asteroids/?name=Eve`);
  assert.deepEqual(await eve.names(2), ["Ada", "Eve"]);
  await converge(server, "asteroids", [ada, eve], 10);
});

test("fingers on the buttons fly a ship", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/?name=Ada`, { touch: true, size: { width: 844, height: 390 } });
  await ada.ready();
  await ada.see("its own ship", () => game.me.wait === 0);
  const middle = async (act) => {
    const box = await ada.page.locator(`[data-act=${act}]`).boundingBox();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const left = { ...await middle("left"), id: 1 };
  const right = { ...await middle("right"), id: 1 };
  const fire = { ...await middle("fire"), id: 2 };
  const touch = await ada.page.context().newCDPSession(ada.page);
  const fingers = (type, touchPoints) => touch.send("Input.dispatchTouchEvent", { type, touchPoints });

  await fingers("touchStart", [left]);
  await ada.see("a turn to the left", () => game.me.turn === -1);
  await fingers("touchStart", [left, fire]);
  await ada.see("bullets while turning", () => game.me.turn === -1 && Array.from(game.entities.bullet).length > 0);
  await fingers("touchMove", [right, fire]);
  await ada.see("a finger that slid to the right", () => game.me.turn === 1 && game.me.fire);
  await ada.shot("asteroids-touch");
  await fingers("touchEnd", []);
  await ada.see("hands off", () => game.me.turn === 0 && !game.me.fire);
});

test("a server that dies and comes back gets its pages back", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/?name=Ada`);
  const bob = await browser.open(`${server.origin}/asteroids/?name=Bob`);
  await Promise.all([ada.names(2), bob.names(2)]);
  for (const player of [ada, bob]) player.allowed.push(/WebSocket connection to .* failed/);
  await server.kill();
  const trying = () => !document.getElementById("banner").hidden && document.getElementById("banner").textContent;
  assert.match(await ada.see("the banner", trying), /Connecting again/);
  assert.match(await bob.see("the banner", trying), /Connecting again/);
  await server.run();
  await Promise.all([ada, bob].map((player) => player.see("the banner gone", () => document.getElementById("banner").hidden)));
  assert.deepEqual(await ada.names(2), ["Ada", "Bob"]);
  await ada.page.keyboard.down("KeyA");
  await bob.see("Ada's ship turning", () => Array.from(game.players).some((player) => player.nick === "Ada" && player.turn === -1));
  await converge(server, "asteroids", [ada, bob], 20);
});

test("the page's policy is strict, and the page keeps to it", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/?name=Ada`);
  await ada.ready();
  const refused = await ada.page.evaluate(() => new Promise((resolve) => {
    const script = document.createElement("script");
    script.textContent = "globalThis.slipped = true";
    addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective), { once: true });
    document.head.append(script);
    if (globalThis.slipped) resolve("nothing");
  }));
  assert.match(refused, /^script-src/);
  // That was the test's own doing.
  ada.allowed.push(/script-src/i, /inline script/);
  await ada.see("the compiled rules at work", () => game.entities.rock && Array.from(game.entities.rock).length > 0);
});

test("an instance that is not there is told so, for good", async (t) => {
  const server = await Server.start(t);
  const browser = await Browser.start(t);
  const ada = await browser.open(`${server.origin}/asteroids/?name=Ada&instance=nowhere`);
  const text = await ada.see("the reason", () => {
    const banner = document.getElementById("banner");
    return banner.classList.contains("end") && banner.textContent;
  });
  assert.ok(text.length > 5, text);
  const instances = await server.instances("asteroids");
  await until("nobody is seated", () => instances.every((instance) => instance.players === 0));
});
