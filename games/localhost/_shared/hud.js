// What stands around the picture on the pages of these games: the name form, the
// banner that tells how the connection is, and the figures. It reaches the pages
// inside gamehoster.js, as gamehoster.game.hud. Each page has the elements start,
// banner and stats.
const UPDATED = 4005; // the close code of a library that is out of date

const $ = (id) => document.getElementById(id);

// begin asks for a name and calls play(name); a ?name= in the address answers
// at once.
export function begin(key, play) {
  const asked = new URLSearchParams(location.search).get("name");
  if (asked !== null) {
    play(asked);
    return;
  }
  const form = $("start");
  form.name.value = remembered(key);
  form.hidden = false;
  form.name.focus();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = form.name.value.trim();
    remember(key, name);
    form.hidden = true;
    document.activeElement?.blur();
    play(name);
  });
}

// A browser may refuse its storage to a page; then the name is typed again.
function remembered(key) {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function remember(key, name) {
  try {
    localStorage.setItem(key, name);
  } catch {
    return;
  }
}

// banner shows a line, or none.
export function banner(text, last = false) {
  const line = $("banner");
  line.hidden = !text;
  line.textContent = text ?? "";
  line.classList.toggle("end", last);
}

// connection keeps the banner true to what the library says of the socket. A
// game that was changed while the page was open loads anew; one that never ran
// does not, or it could do so for ever.
export function connection(game) {
  let ran = false;
  banner("Connecting …");
  game.on("ready", () => {
    ran = true;
    banner(null);
  });
  game.on("reconnecting", (reason) => banner(`${reason.text}. Connecting again …`));
  game.on("closed", (reason) => {
    if (reason.code === UPDATED && ran) location.reload();
    else banner(reason.text, true);
  });
}

// figures returns a function to call once a frame; twice a second it writes
// ping, tick and traffic. The I key hides them.
export function figures(game) {
  const text = $("stats");
  addEventListener("keydown", (event) => {
    if (event.code === "KeyI" && !typing(event)) text.hidden = !text.hidden;
  });
  let since = performance.now();
  let received = 0;
  let sent = 0;
  return (now) => {
    if (now - since < 500) return;
    const { stats } = game;
    const seconds = (now - since) / 1000;
    const rate = (bytes, before) => `${Math.max(0, Math.round((bytes - before) / seconds))}`.padStart(6);
    text.textContent =
      `ping  ${(stats.ping || 0).toFixed(0).padStart(6)} ms\n` +
      `tick  ${`${game.tick}`.padStart(6)}\n` +
      `down  ${rate(stats.bytesIn, received)} B/s\n` +
      `up    ${rate(stats.bytesOut, sent)} B/s`;
    since = now;
    received = stats.bytesIn;
    sent = stats.bytesOut;
  };
}

// typing tells a key that belongs to a text field from one that plays.
export function typing(event) {
  return event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey;
}
