// Keys, a dragging finger or mouse for the way to walk; Space or a tap for a flare.
const { typing } = gamehoster.game.hud;

const KEYS = {
  ArrowLeft: [-1, 0], KeyA: [-1, 0],
  ArrowRight: [1, 0], KeyD: [1, 0],
  ArrowUp: [0, -1], KeyW: [0, -1],
  ArrowDown: [0, 1], KeyS: [0, 1],
};
const FULL = 60; // pixels of a drag at which one walks at full speed
const TAP = 12; // pixels that a finger may slip in a tap

// controls calls walk(x, y) when the way changes and flare(x, y) for a throw, both
// from -1 to 1. aim(event) gives the throw to where a pointer is.
export function controls(canvas, { walk, flare, aim }) {
  const held = new Map(); // a key's code to its way
  let drag = null; // {id, x, y, far} of the finger that walks
  let pull = [0, 0];
  let last = [0, 0];
  let facing = [1, 0];

  function update() {
    let [x, y] = pull;
    for (const [kx, ky] of held.values()) {
      x += kx;
      y += ky;
    }
    const length = Math.max(1, Math.hypot(x, y));
    x /= length;
    y /= length;
    if (x !== 0 || y !== 0) facing = [x / Math.hypot(x, y), y / Math.hypot(x, y)];
    if (Math.hypot(x - last[0], y - last[1]) < 0.04 && (x !== 0 || y !== 0)) return;
    if (x === last[0] && y === last[1]) return;
    last = [x, y];
    walk(x, y);
  }

  addEventListener("keydown", (event) => {
    if (typing(event)) return;
    if (event.code === "Space") {
      event.preventDefault();
      if (!event.repeat) flare(...facing);
    }
    const way = KEYS[event.code];
    if (!way) return;
    event.preventDefault();
    held.set(event.code, way);
    update();
  });
  addEventListener("keyup", (event) => {
    if (held.delete(event.code)) update();
  });
  addEventListener("blur", () => {
    held.clear();
    update();
  });

  canvas.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    if (drag) {
      flare(...aim(event)); // a second finger
      return;
    }
    drag = { id: event.pointerId, x: event.clientX, y: event.clientY, far: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drag?.id) return;
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    const length = Math.hypot(dx, dy);
    drag.far ||= length > TAP;
    if (!drag.far) return;
    pull = [dx / Math.max(length, FULL), dy / Math.max(length, FULL)];
    update();
  });
  function lift(event) {
    if (event.pointerId !== drag?.id) return;
    if (!drag.far && event.type === "pointerup") flare(...aim(event));
    drag = null;
    pull = [0, 0];
    update();
  }
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  addEventListener("contextmenu", (event) => event.preventDefault());

  return {
    // way is the one that is held now.
    way: () => last,
    // finger is where the drag began and how far it pulls, to be drawn; null without one.
    finger: () => (drag?.far ? { x: drag.x, y: drag.y, pull } : null),
  };
}
