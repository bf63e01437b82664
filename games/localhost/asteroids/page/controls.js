// Keys and on-screen buttons, folded into one stick.
const { typing } = gamehoster.game.hud;

const KEYS = {
  ArrowLeft: "left", KeyA: "left",
  ArrowRight: "right", KeyD: "right",
  ArrowUp: "thrust", KeyW: "thrust",
  Space: "fire",
};

// controls calls changed({turn, thrust, fire}) whenever the stick moves.
export function controls(pads, changed) {
  const held = new Map(); // what is pressed, a key's code or a pointer's number, to its action
  let last = "";

  function update() {
    const acts = new Set(held.values());
    const stick = {
      turn: Number(acts.has("right")) - Number(acts.has("left")),
      thrust: acts.has("thrust"),
      fire: acts.has("fire"),
    };
    for (const button of pads.querySelectorAll("[data-act]")) {
      button.classList.toggle("held", acts.has(button.dataset.act));
    }
    const text = JSON.stringify(stick);
    if (text === last) return;
    last = text;
    changed(stick);
  }

  addEventListener("keydown", (event) => {
    const act = KEYS[event.code];
    if (!act || typing(event)) return;
    event.preventDefault();
    held.set(event.code, act);
    update();
  });
  addEventListener("keyup", (event) => {
    if (held.delete(event.code)) update();
  });
  addEventListener("blur", () => {
    held.clear();
    update();
  });

  // A finger may slide from one button to the next.
  function touch(event) {
    const act = document.elementFromPoint(event.clientX, event.clientY)?.dataset.act;
    if (act) held.set(event.pointerId, act);
    else held.delete(event.pointerId);
    update();
  }
  function lift(event) {
    if (held.delete(event.pointerId)) update();
  }
  pads.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    touch(event);
  });
  addEventListener("pointermove", (event) => {
    if (held.has(event.pointerId)) touch(event);
  });
  addEventListener("pointerup", lift);
  addEventListener("pointercancel", lift);
  addEventListener("contextmenu", (event) => event.preventDefault());

  const show = () => { pads.hidden = false; };
  if (matchMedia("(pointer: coarse)").matches) show();
  addEventListener("touchstart", show, { once: true, passive: true });
}
