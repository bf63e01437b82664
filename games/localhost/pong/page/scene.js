// The picture: a table, two paddles, a ball with a tail, and sparks.
const { table } = gamehoster.game;
const FONT = "ui-monospace, Menlo, Consolas, monospace";
const TINTS = ["#5ef1ff", "#ff5fa2"]; // by side
const STRIP = 20; // pixels kept free above and below the table; the figures stand in the lower ones
const TAIL = 28; // places of the ball that are remembered
const GLOW = [[20, 0.03], [16, 0.035], [12, 0.045], [9, 0.06], [6, 0.09], [3, 0.16], [0, 0.9]];

export const tint = (side) => TINTS[side];

// scene draws on a canvas that it keeps as big and as sharp as the window.
export function scene(canvas) {
  const ctx = canvas.getContext("2d", { alpha: false });
  const tail = [];
  let sparks = [];
  let shake = 0;
  let flash = 0;
  let flashTint = "#fff";
  let scale = 1;
  let left = 0;
  let top = 0;

  function fit() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.round(innerWidth * ratio);
    canvas.height = Math.round(innerHeight * ratio);
    scale = Math.min(canvas.width / (table.width + 40), canvas.height / (table.height + 40), (canvas.height - 2 * STRIP * ratio) / table.height);
    left = (canvas.width - table.width * scale) / 2;
    top = (canvas.height - table.height * scale) / 2;
  }
  addEventListener("resize", fit);
  fit();

  // bar is a glowing upright rectangle around a centre.
  function bar(x, y, width, height, colour) {
    ctx.fillStyle = colour;
    for (const [grow, alpha] of GLOW) {
      ctx.globalAlpha = alpha;
      ctx.beginPath();
      ctx.roundRect(x - width / 2 - grow, y - height / 2 - grow, width + 2 * grow, height + 2 * grow, width / 2 + grow);
      ctx.fill();
    }
    ctx.globalAlpha = 1;
  }

  function field(players, me) {
    const { width, height } = table;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = "#01030a";
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    const dx = (Math.random() - 0.5) * shake;
    const dy = (Math.random() - 0.5) * shake;
    ctx.setTransform(scale, 0, 0, scale, left + dx * scale, top + dy * scale);
    const cloth = ctx.createRadialGradient(width / 2, height / 2, 50, width / 2, height / 2, width * 0.62);
    cloth.addColorStop(0, "#0b1a2c");
    cloth.addColorStop(1, "#040810");
    ctx.fillStyle = cloth;
    ctx.fillRect(0, 0, width, height);
    if (flash > 0.01) {
      ctx.globalAlpha = flash * 0.25;
      ctx.fillStyle = flashTint;
      ctx.fillRect(0, 0, width, height);
      ctx.globalAlpha = 1;
    }
    ctx.strokeStyle = "#24405e";
    ctx.lineWidth = 3;
    ctx.strokeRect(0, 0, width, height);
    ctx.setLineDash([14, 14]);
    ctx.beginPath();
    ctx.moveTo(width / 2, 7);
    ctx.lineTo(width / 2, height);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (const player of players) {
      const x = width * (player.side === 0 ? 0.28 : 0.72);
      ctx.fillStyle = TINTS[player.side];
      ctx.font = `700 130px ${FONT}`;
      ctx.globalAlpha = 0.2;
      ctx.fillText(player.score, x, 110);
      ctx.font = `${player.id === me?.id ? 700 : 400} 19px ${FONT}`;
      ctx.globalAlpha = 0.75;
      ctx.fillText(player.nick, x, 32);
    }
    ctx.globalAlpha = 1;
  }

  function ball({ ballX: x, ballY: y, speed, pause }) {
    const last = tail.at(-1);
    // A ball that is put back to the middle leaves no line across the table.
    if (last && Math.hypot(x - last.x, y - last.y) > 150) tail.length = 0;
    tail.push({ x, y });
    if (tail.length > TAIL || pause > 0) tail.shift();
    const hot = Math.min(Math.max((speed - 460) / 700, 0), 1);
    const colour = `hsl(${60 - 45 * hot} 100% ${78 - 12 * hot}%)`;
    ctx.lineCap = "butt";
    ctx.strokeStyle = colour;
    for (let i = 1; i < tail.length; i++) {
      ctx.globalAlpha = 0.45 * (i / tail.length) ** 2;
      ctx.lineWidth = table.ball * 2 * (i / tail.length);
      ctx.beginPath();
      ctx.moveTo(tail[i - 1].x, tail[i - 1].y);
      ctx.lineTo(tail[i].x, tail[i].y);
      ctx.stroke();
    }
    bar(x, y, table.ball * 2, table.ball * 2, colour);
  }

  function glitter(dt) {
    ctx.lineCap = "round";
    ctx.lineWidth = 2.4;
    for (const spark of sparks) {
      spark.age += dt;
      const keep = Math.exp(-2 * dt);
      spark.vx *= keep;
      spark.vy *= keep;
      spark.x += spark.vx * dt;
      spark.y += spark.vy * dt;
      ctx.globalAlpha = Math.max(0, 1 - spark.age / spark.life);
      ctx.strokeStyle = spark.colour;
      ctx.beginPath();
      ctx.moveTo(spark.x, spark.y);
      ctx.lineTo(spark.x - spark.vx * 0.03, spark.y - spark.vy * 0.03);
      ctx.stroke();
    }
    sparks = sparks.filter((spark) => spark.age < spark.life);
    ctx.globalAlpha = 1;
  }

  return {
    // y is the table's y under a pointer.
    y(event) {
      const ratio = canvas.height / innerHeight;
      return Math.round(Math.min(Math.max((event.clientY * ratio - top) / scale, 0), table.height));
    },
    // burst throws sparks from a point, all ways or, with lean -1 or 1, to one side.
    burst(x, y, count, lean, colour) {
      for (let i = 0; i < count; i++) {
        const a = (Math.random() - 0.5) * (lean === 0 ? 2 * Math.PI : 2.2) + (lean < 0 ? Math.PI : 0);
        const v = 380 * Math.sqrt(Math.random());
        sparks.push({ x, y, vx: Math.cos(a) * v, vy: Math.sin(a) * v, age: 0, life: 0.25 + Math.random() * 0.6, colour });
      }
    },
    jolt(units) {
      shake = Math.max(shake, units);
    },
    // light lets the table shine up in a colour.
    light(colour) {
      flash = 1;
      flashTint = colour;
    },
    // draw paints one frame, then the lines of text over it.
    draw(game, dt, lines) {
      shake *= Math.exp(-8 * dt);
      flash *= Math.exp(-3 * dt);
      field(game.players, game.me);
      ctx.globalCompositeOperation = "lighter";
      for (const player of game.players) {
        const x = player.side === 0 ? table.inset - 7 : table.width - table.inset + 7;
        bar(x, player.y, 14, table.paddle, TINTS[player.side]);
      }
      ball(game.instance);
      glitter(dt);
      let y = table.height * 0.36;
      for (const { text, size, colour = "#eafff2", alpha = 1 } of lines) {
        ctx.font = `300 ${size}px ${FONT}`;
        ctx.fillStyle = colour;
        ctx.globalAlpha = alpha;
        ctx.fillText(text, table.width / 2, y);
        y += size * 1.4;
      }
      ctx.globalAlpha = 1;
      ctx.globalCompositeOperation = "source-over";
    },
  };
}
