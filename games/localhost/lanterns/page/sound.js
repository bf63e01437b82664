// Small sounds, made on the spot. A browser lets a page make noise from the first
// key or touch on, so that is when the speaker wakes up.
const { typing } = gamehoster.game.hud;

let audio = null;
let out = null;

function wake() {
  if (navigator.userActivation?.hasBeenActive === false) return;
  if (audio) {
    if (audio.state === "suspended") audio.resume();
    return;
  }
  audio = new AudioContext();
  out = audio.createGain();
  out.gain.value = 0.25;
  out.connect(audio.destination);
}
addEventListener("keydown", wake);
addEventListener("pointerdown", wake);
addEventListener("keydown", (event) => {
  if (event.code === "KeyM" && !typing(event) && out) out.gain.value = out.gain.value > 0 ? 0 : 0.25;
});

function tone(shape, from, to, seconds, level, after = 0) {
  if (!audio) return;
  const at = audio.currentTime + after;
  const wave = audio.createOscillator();
  wave.type = shape;
  wave.frequency.setValueAtTime(from, at);
  wave.frequency.exponentialRampToValueAtTime(to, at + seconds);
  const gain = audio.createGain();
  gain.gain.setValueAtTime(level, at);
  gain.gain.exponentialRampToValueAtTime(0.001, at + seconds);
  wave.connect(gain).connect(out);
  wave.start(at);
  wave.stop(at + seconds);
}

export const ember = () => tone("sine", 520, 1040, 0.18, 0.3);
export const flare = (mine) => tone("sawtooth", 900, 120, 0.5, mine ? 0.16 : 0.06);
export const sip = () => tone("triangle", 300, 180, 0.12, 0.2);

export function treasure() {
  for (const [i, pitch] of [523, 659, 784, 1047, 1319].entries()) tone("triangle", pitch, pitch, 0.5, 0.3, i * 0.11);
}
