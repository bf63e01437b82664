// Blips, made on the spot. A browser lets a page make noise from the first key
// or touch on, so that is when the speaker wakes up.
const { typing } = gamehoster.game.hud;

let audio = null;
let out = null;

function wake() {
  // A key like Shift is no permission.
  if (navigator.userActivation?.hasBeenActive === false) return;
  if (audio) {
    if (audio.state === "suspended") audio.resume();
    return;
  }
  audio = new AudioContext();
  out = audio.createGain();
  out.gain.value = 0.3;
  out.connect(audio.destination);
}
addEventListener("keydown", wake);
addEventListener("pointerdown", wake);
addEventListener("keydown", (event) => {
  if (event.code === "KeyM" && !typing(event) && out) out.gain.value = out.gain.value > 0 ? 0 : 0.3;
});

function blip(shape, pitch, seconds, level, pan, after = 0) {
  if (!audio) return;
  const from = audio.currentTime + after;
  const wave = audio.createOscillator();
  wave.type = shape;
  wave.frequency.value = pitch;
  const gain = audio.createGain();
  gain.gain.setValueAtTime(level, from);
  gain.gain.exponentialRampToValueAtTime(0.001, from + seconds);
  const side = audio.createStereoPanner();
  side.pan.value = pan;
  wave.connect(gain).connect(side).connect(out);
  wave.start(from);
  wave.stop(from + seconds);
}

// paddle sounds higher the longer the rally goes.
export const paddle = (rally, pan) => blip("square", 330 * 2 ** (Math.min(rally, 24) / 24), 0.09, 0.3, pan);
export const wall = (pan) => blip("square", 220, 0.06, 0.18, pan);

export function point(mine) {
  blip("sawtooth", mine ? 440 : 180, 0.25, 0.25, 0);
  blip("sawtooth", mine ? 660 : 120, 0.4, 0.25, 0, 0.12);
}

export function match(won) {
  const tune = won ? [523, 659, 784, 1047] : [392, 330, 262, 196];
  for (const [i, pitch] of tune.entries()) blip("triangle", pitch, 0.4, 0.35, 0, i * 0.15);
}
