// Lanterns in a browser: connect, send the way and the flares, draw what is in
// sight. What is not in sight is not here either: the lists of the game hold what
// view.js lets this player see.
import { controls } from "./controls.js";
import { scene } from "./scene.js";
import * as sound from "./sound.js";

const { hud } = gamehoster.game;
const $ = (id) => document.getElementById(id);
const canvas = $("view");
const screen = scene(canvas);
let paint = (now, dt) => screen.dark(now, dt);

let before = performance.now();
requestAnimationFrame(function frame(now) {
  requestAnimationFrame(frame);
  const dt = Math.min((now - before) / 1000, 0.1);
  before = now;
  paint(now, dt);
});

function play(game) {
  globalThis.game = game; // for the curious at the console

  let ready = false;
  const hands = controls(canvas, {
    walk: (x, y) => ready && game.send.walk({ x, y }),
    flare: (x, y) => ready && game.send.flare({ x, y }),
    aim: screen.aim,
  });
  const purse = watcher(game);
  const write = hud.figures(game);
  game.on("enter", (thing, type) => {
    if (type === "flare" && ready) sound.flare(thing.owner?.id === game.me?.id);
  });
  game.on("ready", () => {
    ready = true;
    purse.reset();
    $("bars").hidden = !game.me;
    // A key may have been down since before.
    const [x, y] = hands.way();
    if (game.me) game.send.walk({ x, y });
    paint = (now, dt) => {
      game.frame(now);
      purse.look(now);
      screen.draw(game, now, dt, purse.headline(now), hands.finger());
      write(now);
    };
  });
  game.on("reconnecting", () => { ready = false; });
  game.on("closed", () => { ready = false; });
}

// watcher finds what the own player has gained and lost between two frames.
function watcher(game) {
  let last = null;
  let found = -Infinity;

  return {
    look(now) {
      if (!game.me) return;
      const { x, y, oil, embers, gold, warmth } = game.me;
      if (last && embers > last.embers) {
        screen.sparkle(x, y, 14, "#ffb454");
        sound.ember();
      } else if (last && oil < last.oil - 5 && oil > last.oil - 60) {
        sound.sip(); // more than burns, and less than a flare costs
      }
      if (last && gold > last.gold) {
        found = now;
        screen.sparkle(x, y, 90, "#ffe27a");
        sound.treasure();
      }
      last = { oil, embers, gold };
      $("oil").value = oil;
      $("warmth").value = warmth;
      $("purse").value = `${embers} embers, ${gold} gold`;
    },
    headline: (now) => (now - found < 2500 ? { text: "Treasure!", alpha: Math.min(1, (2500 - now + found) / 800) } : null),
    // reset forgets the last frame: what is new after a reconnect did not happen just now.
    reset() {
      last = null;
    },
  };
}

hud.begin("gamehoster.lanterns", play);
