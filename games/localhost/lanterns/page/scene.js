// The picture: ground and things are painted as by day, then the night is laid over
// them, with a hole for each light.
const { field, light, glare, fresh, colour } = gamehoster.game;
const SCREEN = 800; // units from the middle to a corner; the view's radius is a little more
const TILE = 512; // of the ground that is painted once
const FONT = "ui-monospace, Menlo, Consolas, monospace";
const NIGHT = "rgb(3 5 14 / 97%)";

// scene draws on a canvas that it keeps as big and as sharp as the window.
export function scene(canvas) {
  const ctx = canvas.getContext("2d", { alpha: false });
  const night = document.createElement("canvas"); // at half the sharpness: it is all blur
  const dark = night.getContext("2d");
  const ground = ctx.createPattern(meadow(), "repeat");
  const camera = { x: field.size / 2, y: field.size / 2 };
  let sparks = [];
  let scale = 1;

  function fit() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.round(innerWidth * ratio);
    canvas.height = Math.round(innerHeight * ratio);
    night.width = Math.ceil(canvas.width / 2);
    night.height = Math.ceil(canvas.height / 2);
    scale = Math.hypot(canvas.width, canvas.height) / 2 / SCREEN;
  }
  addEventListener("resize", fit);
  fit();

  // place lets a context draw in units of the field.
  function place(to, part = 1) {
    const s = scale * part;
    to.setTransform(s, 0, 0, s, canvas.width * part / 2 - camera.x * s, canvas.height * part / 2 - camera.y * s);
  }

  function paintGround() {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = "#05070d";
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    place(ctx);
    ctx.fillStyle = ground;
    ctx.fillRect(0, 0, field.size, field.size);
    ctx.strokeStyle = "#55452f";
    ctx.lineWidth = 10;
    ctx.strokeRect(-5, -5, field.size + 10, field.size + 10);
  }

  // hole lets light through the night around a place.
  function hole(x, y, radius, strength) {
    if (radius <= 0) return;
    const fade = dark.createRadialGradient(x, y, 0, x, y, radius);
    fade.addColorStop(0, `rgb(0 0 0 / ${strength})`);
    fade.addColorStop(0.55, `rgb(0 0 0 / ${strength * 0.75})`);
    fade.addColorStop(1, "rgb(0 0 0 / 0)");
    dark.fillStyle = fade;
    dark.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
  }

  // glow adds coloured light.
  function glow(x, y, radius, tint, alpha) {
    const fade = ctx.createRadialGradient(x, y, 0, x, y, radius);
    fade.addColorStop(0, tint);
    fade.addColorStop(1, "transparent");
    ctx.globalAlpha = alpha;
    ctx.fillStyle = fade;
    ctx.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    ctx.globalAlpha = 1;
  }

  function disc(x, y, radius, tint) {
    ctx.fillStyle = tint;
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    ctx.fill();
  }

  function paintEmber({ id, x, y }, now) {
    const pulse = 0.75 + 0.25 * Math.sin(now / 240 + id);
    ctx.fillStyle = "#3b2a22";
    ctx.fillRect(x - 7, y + 2, 14, 5);
    disc(x, y, 7 * pulse, "#ff8a2a");
    disc(x, y, 3.5, "#ffe2a0");
  }

  function paintMoth({ id, x, y, vx, vy }, now) {
    const spread = 5 + 7 * Math.abs(Math.sin(now / 60 + id));
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(Math.atan2(vy, vx));
    ctx.fillStyle = "#d8d2c0";
    for (const side of [-1, 1]) {
      ctx.beginPath();
      ctx.ellipse(-1, side * spread * 0.6, 6, spread * 0.6, side * 0.5, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.fillStyle = "#5d5444";
    ctx.fillRect(-6, -1.5, 12, 3);
    ctx.restore();
  }

  function paintPlayer(player, now) {
    const { id, x, y, walkX, walkY, oil } = player;
    const step = walkX !== 0 || walkY !== 0 ? Math.sin(now / 90 + id) * 2.5 : 0;
    ctx.fillStyle = "rgb(0 0 0 / 45%)";
    ctx.beginPath();
    ctx.ellipse(x, y + 15, 15, 6, 0, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillStyle = colour(id);
    ctx.beginPath(); // a cloak and a head
    ctx.moveTo(x, y - 16 + step);
    ctx.lineTo(x + 13, y + 15);
    ctx.lineTo(x - 13, y + 15);
    ctx.fill();
    disc(x, y - 14 + step, 7.5, "#e7cfae");
    ctx.strokeStyle = "#8b7355";
    ctx.lineWidth = 2.5;
    ctx.beginPath();
    ctx.moveTo(x + 8, y - 1 + step);
    ctx.lineTo(x + 19, y - 9 + step);
    ctx.stroke();
    ctx.fillStyle = oil > 0 ? "#ffe9b0" : "#4a4436";
    ctx.fillRect(x + 15, y - 8 + step, 8, 11);
  }

  function paintFlare(flare, now) {
    const flicker = 0.8 + 0.2 * Math.sin(now / 37 + flare.id);
    glow(flare.x, flare.y, 90, "#ff5a3c", 0.8 * fresh(flare) ** 0.3 * flicker);
    disc(flare.x, flare.y, 5 * flicker, "#fff3e0");
    if (Math.random() < 0.5) spark(flare.x, flare.y, 120, "#ffb08a");
  }

  function spark(x, y, speed, tint) {
    const a = Math.random() * 2 * Math.PI;
    const v = speed * Math.sqrt(Math.random());
    sparks.push({ x, y, vx: Math.cos(a) * v, vy: Math.sin(a) * v - 30, age: 0, life: 0.3 + Math.random() * 0.6, tint });
  }

  function paintSparks(dt) {
    for (const s of sparks) {
      s.age += dt;
      s.x += s.vx * dt;
      s.y += s.vy * dt;
      ctx.globalAlpha = Math.max(0, 1 - s.age / s.life);
      ctx.fillStyle = s.tint;
      ctx.fillRect(s.x - 1.5, s.y - 1.5, 3, 3);
    }
    sparks = sparks.filter((s) => s.age < s.life);
    ctx.globalAlpha = 1;
  }

  // lights are all that shine: places, radii and how strongly.
  function lights(game, now) {
    const list = [];
    for (const player of game.players) {
      const flicker = 1 + 0.015 * Math.sin(now / 70 + player.id * 9) + 0.01 * Math.sin(now / 31 + player.id);
      list.push([player.x, player.y, light(player) * flicker, 0.97]);
      if (player.id === game.me?.id) list.push([player.x, player.y, field.sight, 0.7]);
    }
    for (const flare of game.entities.flare) list.push([flare.x, flare.y, glare(flare), 0.95]);
    return list;
  }

  function paintNight(list) {
    dark.setTransform(1, 0, 0, 1, 0, 0);
    dark.globalCompositeOperation = "copy";
    dark.fillStyle = NIGHT;
    dark.fillRect(0, 0, night.width, night.height);
    dark.globalCompositeOperation = "destination-out";
    place(dark, 0.5);
    for (const [x, y, radius, strength] of list) hole(x, y, radius, strength);
    ctx.setTransform(2, 0, 0, 2, 0, 0);
    ctx.drawImage(night, 0, 0);
    place(ctx);
  }

  function words(game, line, finger) {
    ctx.textAlign = "center";
    ctx.font = `600 14px ${FONT}`;
    for (const player of game.players) {
      if (player.id === game.me?.id) continue;
      ctx.fillStyle = colour(player.id);
      ctx.globalAlpha = 0.85;
      ctx.fillText(player.gold > 0 ? `${player.nick} ×${player.gold}` : player.nick, player.x, player.y - 32);
    }
    ctx.globalAlpha = 1;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    if (line) {
      ctx.font = `300 ${Math.round(64 * scale)}px ${FONT}`;
      ctx.globalAlpha = line.alpha;
      ctx.fillStyle = "#ffe27a";
      ctx.fillText(line.text, canvas.width / 2, canvas.height * 0.36);
      ctx.globalAlpha = 1;
    }
    if (!finger) return;
    const ratio = canvas.width / innerWidth;
    ctx.setTransform(ratio, 0, 0, ratio, finger.x * ratio, finger.y * ratio);
    ctx.strokeStyle = "rgb(255 180 84 / 45%)";
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(0, 0, 60, 0, 2 * Math.PI);
    ctx.stroke();
    disc(finger.pull[0] * 60, finger.pull[1] * 60, 16, "rgb(255 180 84 / 45%)");
  }

  return {
    // aim gives the throw that flies to where a pointer is, from -1 to 1 each.
    aim(event) {
      const ratio = canvas.width / innerWidth;
      const x = (event.clientX * ratio - canvas.width / 2) / scale / 290;
      const y = (event.clientY * ratio - canvas.height / 2) / scale / 290;
      const length = Math.max(1, Math.hypot(x, y));
      return [x / length, y / length];
    },
    // sparkle throws sparks from a place, over the night.
    sparkle(x, y, count, tint) {
      for (let i = 0; i < count; i++) spark(x, y, 60 + 3 * count, tint);
    },
    // dark is the picture as long as there is no game.
    dark(now, dt) {
      camera.x += 12 * dt;
      paintGround();
      paintNight([[camera.x, camera.y, 420 + 8 * Math.sin(now / 400), 0.8]]);
    },
    // draw paints one frame, then the line of text and the finger's stick over it.
    draw(game, now, dt, line, finger) {
      if (game.me) Object.assign(camera, { x: game.me.x, y: game.me.y });
      paintGround();
      for (const ember of game.entities.ember) paintEmber(ember, now);
      for (const player of game.players) paintPlayer(player, now);
      for (const moth of game.entities.moth) paintMoth(moth, now);
      const list = lights(game, now);
      paintNight(list);
      ctx.globalCompositeOperation = "lighter";
      for (const player of game.players) {
        if (player.oil === 0) continue;
        glow(player.x, player.y, light(player) * 0.9, "#ff9a3c", 0.2);
        glow(player.x + 19, player.y - 3, 34, "#ffd58a", 0.8);
      }
      for (const flare of game.entities.flare) paintFlare(flare, now);
      for (const ember of game.entities.ember) glow(ember.x, ember.y, 38, "#ff7a1f", 0.45);
      paintSparks(dt);
      ctx.globalCompositeOperation = "source-over";
      words(game, line, finger);
    },
  };
}

// meadow is a tile of ground that fits to itself on all sides.
function meadow() {
  const tile = document.createElement("canvas");
  tile.width = tile.height = TILE;
  const ctx = tile.getContext("2d");
  ctx.fillStyle = "#3a4a2c";
  ctx.fillRect(0, 0, TILE, TILE);
  for (let i = 0; i < 900; i++) {
    const x = Math.random() * TILE;
    const y = Math.random() * TILE;
    const kind = Math.random();
    for (const ox of [0, TILE, -TILE]) {
      for (const oy of [0, TILE, -TILE]) paintTuft(ctx, x + ox, y + oy, kind, i);
    }
  }
  return tile;
}

function paintTuft(ctx, x, y, kind, i) {
  if (kind < 0.04) {
    ctx.fillStyle = "#6b6a62";
    ctx.beginPath();
    ctx.ellipse(x, y, 9 + (i % 6), 6 + (i % 4), i, 0, 2 * Math.PI);
    ctx.fill();
    return;
  }
  if (kind < 0.1) {
    ctx.fillStyle = ["#d9c86a", "#c58ab5", "#d8dce0"][i % 3];
    ctx.fillRect(x, y, 4, 4);
    return;
  }
  ctx.strokeStyle = ["#4f6638", "#5d7340", "#2e3d24", "#465a31"][i % 4];
  ctx.lineWidth = 2;
  ctx.beginPath();
  for (const lean of [-4, 0, 4]) {
    ctx.moveTo(x, y);
    ctx.lineTo(x + lean, y - 8 - (i % 5));
  }
  ctx.stroke();
}
