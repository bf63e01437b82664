// What stands around the picture on the pages of these games: the name form that
// leads into the game, the banner that tells how the connection is, and the
// figures. It reaches the pages inside gamehoster.js, as gamehoster.game.hud. Each
// page has the elements start, banner and stats.
const UPDATED = 4005; // the close code of a library that is out of date

const $ = (id) => document.getElementById(id);

// begin asks for a name, connects, and calls play(game). A ?name= in the address
// answers at once, and a page that was reloaded takes its seat again. key is
// where the browser keeps the name.
export function begin(key, play) {
  const asked = new URLSearchParams(location.search).get("name");
  const seat = take("sessionStorage", key);
  if (asked !== null || seat) {
    play(connect(key, asked ?? read("localStorage", key), seat));
    return;
  }
  const form = $("start");
  form.name.value = read("localStorage", key);
  form.hidden = false;
  form.name.focus();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = form.name.value.trim();
    write("localStorage", key, name);
    form.hidden = true;
    document.activeElement?.blur();
    play(connect(key, name));
  });
}

function connect(key, name, seat) {
  const query = new URLSearchParams(location.search);
  const game = gamehoster.connect({
    name,
    resume: seat || undefined,
    instance: query.get("instance") ?? undefined,
    watch: query.has("watch"),
  });
  // Written as the page goes and taken out as it comes, so that a copy of the
  // tab is another player.
  addEventListener("pagehide", () => write("sessionStorage", key, game.resumeToken));
  tell(game);
  return game;
}

// tell keeps the banner true to what the library says of the socket. A game that
// was changed while the page was open loads anew; one that never ran does not, or
// it could do so for ever.
function tell(game) {
  let ran = false;
  banner("Connecting …");
  game.on("ready", () => {
    ran = true;
    banner("");
  });
  game.on("reconnecting", (reason) => banner(`${reason.text}. Connecting again …`));
  game.on("closed", (reason) => {
    if (reason.code === UPDATED && ran) location.reload();
    else banner(reason.text, true);
  });
}

function banner(text, last = false) {
  const line = $("banner");
  line.hidden = !text;
  line.textContent = text;
  line.classList.toggle("end", last);
}

// A browser may refuse its storage to a page; then nothing is remembered.
function read(store, key) {
  try {
    return globalThis[store].getItem(key) ?? "";
  } catch {
    return "";
  }
}

function write(store, key, text) {
  try {
    globalThis[store].setItem(key, text);
  } catch {
    return;
  }
}

function take(store, key) {
  const text = read(store, key);
  if (text) write(store, key, "");
  return text;
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
