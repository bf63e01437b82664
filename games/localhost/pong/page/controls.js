// Keys push the paddle; a finger or a pressed mouse says where it should go.
const { typing } = gamehoster.game.hud;

const KEYS = { ArrowUp: -1, KeyW: -1, ArrowDown: 1, KeyS: 1 };
const EVERY = 40; // milliseconds between two aims at least

// controls calls move(dir) when the keys change, and aim(y) with the table's y
// under the pointer: at once, then as the pointer moves. y(event) converts.
export function controls(canvas, { move, aim, y }) {
  const held = new Map(); // a key's code to its direction, newest last
  let dir = 0;
  let pointer = null;
  let aimed = null;
  let last = 0;

  function keys() {
    const next = [...held.values()].at(-1) ?? 0;
    if (next === dir) return;
    dir = next;
    move(dir);
  }
  addEventListener("keydown", (event) => {
    const way = KEYS[event.code];
    if (!way || typing(event)) return;
    event.preventDefault();
    held.set(event.code, way);
    keys();
  });
  addEventListener("keyup", (event) => {
    if (held.delete(event.code)) keys();
  });
  addEventListener("blur", () => {
    held.clear();
    keys();
  });

  canvas.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    pointer = event.pointerId;
    canvas.setPointerCapture(pointer);
    aimed = y(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId === pointer) aimed = y(event);
  });
  const lift = (event) => {
    if (event.pointerId === pointer) pointer = null;
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  addEventListener("contextmenu", (event) => event.preventDefault());

  return {
    // flush sends where the pointer went since; call it once a frame.
    flush(now) {
      if (aimed === null || now - last < EVERY) return;
      last = now;
      aim(aimed);
      aimed = null;
    },
    // held is the direction that the keys ask for right now.
    held: () => dir,
  };
}
