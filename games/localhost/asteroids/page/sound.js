// Sounds made on the spot; there is no file to load. A browser lets a page make
// noise from the first key or touch on, so that is when the speaker wakes up.
const { typing } = gamehoster.game.hud;

let audio = null;
let out = null;
let hiss = null; // one second of white noise
let engine = null;

function wake() {
  // A key like Shift is no permission.
  if (navigator.userActivation?.hasBeenActive === false) return;
  if (audio) {
    if (audio.state === "suspended") audio.resume();
    return;
  }
  audio = new AudioContext();
  out = audio.createGain();
  out.gain.value = 0.35;
  out.connect(audio.destination);
  hiss = audio.createBuffer(1, audio.sampleRate, audio.sampleRate);
  const samples = hiss.getChannelData(0);
  for (let i = 0; i < samples.length; i++) samples[i] = Math.random() * 2 - 1;
}
addEventListener("keydown", wake);
addEventListener("pointerdown", wake);
addEventListener("keydown", (event) => {
  if (event.code === "KeyM" && !typing(event) && out) out.gain.value = out.gain.value > 0 ? 0 : 0.35;
});

// fade is a gain that goes from a level to silence, placed left to right by pan
// in -1 .. 1.
function fade(level, seconds, pan) {
  const gain = audio.createGain();
  gain.gain.setValueAtTime(level, audio.currentTime);
  gain.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + seconds);
  const side = audio.createStereoPanner();
  side.pan.value = pan;
  gain.connect(side).connect(out);
  return gain;
}

function tone(shape, from, to, seconds, level, pan) {
  if (!audio) return;
  const wave = audio.createOscillator();
  wave.type = shape;
  wave.frequency.setValueAtTime(from, audio.currentTime);
  wave.frequency.exponentialRampToValueAtTime(to, audio.currentTime + seconds);
  wave.connect(fade(level, seconds, pan));
  wave.start();
  wave.stop(audio.currentTime + seconds);
}

function rumble(pitch, seconds, level, pan) {
  if (!audio) return;
  const noise = audio.createBufferSource();
  noise.buffer = hiss;
  noise.loop = true;
  const low = audio.createBiquadFilter();
  low.type = "lowpass";
  low.frequency.setValueAtTime(pitch, audio.currentTime);
  low.frequency.exponentialRampToValueAtTime(60, audio.currentTime + seconds);
  noise.connect(low).connect(fade(level, seconds, pan));
  noise.start(0, Math.random());
  noise.stop(audio.currentTime + seconds);
}

export const shot = (mine, pan) => tone("square", mine ? 980 : 700, 160, 0.13, mine ? 0.16 : 0.07, pan);
export const rock = (size, pan) => rumble(1900 - size * 450, 0.25 + size * 0.16, 0.45 + size * 0.12, pan);
export const launch = (pan) => tone("triangle", 220, 880, 0.35, 0.25, pan);

export function ship(mine, pan) {
  rumble(1400, 1.1, mine ? 1.1 : 0.7, pan);
  tone("sawtooth", 300, 40, 0.9, mine ? 0.35 : 0.15, pan);
}

export function level() {
  for (const [i, pitch] of [330, 440, 660].entries()) {
    setTimeout(() => tone("triangle", pitch, pitch, 0.3, 0.2, 0), i * 130);
  }
}

// burn keeps the engine's noise on or off.
export function burn(on) {
  if (!audio) return;
  if (!engine) {
    const noise = audio.createBufferSource();
    noise.buffer = hiss;
    noise.loop = true;
    const low = audio.createBiquadFilter();
    low.type = "lowpass";
    low.frequency.value = 260;
    engine = audio.createGain();
    engine.gain.value = 0;
    noise.connect(low).connect(engine).connect(out);
    noise.start();
  }
  engine.gain.setTargetAtTime(on ? 0.4 : 0, audio.currentTime, 0.04);
}
