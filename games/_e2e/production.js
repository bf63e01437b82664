// A box as it stands in production, which the tests put on one machine:
//
//	Website   a game's own site, on a domain of its own, of which the box knows nothing
//	Caddy     the Caddyfile that gamehoster prints, with its own certificate authority
//	Box       gamehoster serve, with worker processes, on a games root of one domain
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { X509Certificate, createHash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { PROJECT, binary, freePort, scratch, until } from "./harness.js";

export const DOMAIN = "play.example.test";
export const WEBSITE = "https://arcade.example.test";

const KINDS = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript" };

// start runs a program until the test ends. answers says whether it is up.
async function start(t, command, args, env, answers) {
  const child = spawn(command, args, { env: { ...process.env, ...env } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => { said += chunk; });
  child.on("error", (error) => { said += error; });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  await until(`${path.basename(command)} is up`, () => {
    assert.ok(child.exitCode === null && child.pid !== undefined, `${command} ended:\n${said}`);
    return answers(() => said);
  });
}

// Box is a gamehoster serve with one of the sample games, which only the website's pages
// may play.
export class Box {
  static async start(t, game) {
    const box = new Box();
    box.root = await mkdtemp(path.join(scratch, "root-"));
    const source = (file) => !/^(\.|gamehoster\.)/.test(path.basename(file));
    for (const folder of [game, "_shared"]) {
      await cp(path.join(PROJECT, "games/localhost", folder), path.join(box.root, DOMAIN, folder), { recursive: true, filter: source });
    }
    const definition = path.join(box.root, DOMAIN, game, "gamehoster-game.json");
    const rules = JSON.parse(await readFile(definition, "utf8"));
    await writeFile(definition, JSON.stringify({ ...rules, $schema: undefined, origins: WEBSITE }));
    const port = await freePort();
    box.address = `127.0.0.1:${port}`;
    // The players leave with the test, and their games with them.
    const args = ["serve", "--root", box.root, "--port", `${port}`, "--admin", "", "--drain-timeout", "1ms"];
    await start(t, await binary(), args, {}, (said) => said().includes("listening"));
    return box;
  }
}

// Caddy is a real one before a box.
export class Caddy {
  #config;
  #admin;

  static async start(t, box) {
    const caddy = new Caddy();
    const dir = await mkdtemp(path.join(scratch, "caddy-"));
    caddy.port = await freePort();
    caddy.origin = `https://${DOMAIN}:${caddy.port}`;
    caddy.#admin = `127.0.0.1:${await freePort()}`;
    const { stdout } = await promisify(execFile)(await binary(), ["example", "caddyfile"]);
    const own = `{\n\thttps_port ${caddy.port}\n\thttp_port ${await freePort()}\n\tadmin ${caddy.#admin}\n\tskip_install_trust\n`;
    assert.match(stdout, /\n\{\n/);
    caddy.#config = path.join(dir, "Caddyfile");
    await writeFile(caddy.#config, stdout.replace("\n{\n", `\n${own}`));
    const env = {
      HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir,
      GAMEHOSTER_ROOT: box.root, GAMEHOSTER_BACKEND: box.address, GAMEHOSTER_ISSUER: "internal",
    };
    caddy.env = env;
    await start(t, "caddy", ["run", "--adapter", "caddyfile", "--config", caddy.#config], env, (said) => said().includes("serving initial configuration"));
    const authority = await readFile(path.join(dir, "caddy/pki/authorities/local/intermediate.crt"));
    const key = new X509Certificate(authority).publicKey.export({ type: "spki", format: "der" });
    caddy.authority = createHash("sha256").update(key).digest("base64");
    return caddy;
  }

  // args have Chromium find the domain here, where it takes the port for one of the world
  // outside, and trust the authority and no other.
  get args() {
    return [
      `--host-resolver-rules=MAP ${DOMAIN} 127.0.0.1`, `--ip-address-space-overrides=127.0.0.1:${this.port}=public`,
      `--ignore-certificate-errors-spki-list=${this.authority}`,
    ];
  }

  // reload has it load its configuration anew, as its unit's reload does.
  async reload() {
    const args = ["reload", "--force", "--adapter", "caddyfile", "--config", this.#config, "--address", this.#admin];
    await promisify(execFile)("caddy", args, { env: { ...process.env, ...this.env } });
  }
}

// Website serves a sample's page from elsewhere than the box. It takes the library from
// there, as <script src> on a real one does.
export class Website {
  origin = WEBSITE;

  constructor(game, caddy) {
    this.folders = [`games/localhost/${game}/page`, "games/localhost/_shared/page"].map((folder) => path.join(PROJECT, folder));
    this.library = `${caddy.origin}/${game}/gamehoster.js`;
    this.sources = `'self' ${caddy.origin} ${caddy.origin.replace("https:", "wss:")}`;
  }

  async answer(route) {
    const { pathname } = new URL(route.request().url());
    const name = pathname === "/" ? "index.html" : pathname.slice(1);
    for (const folder of this.folders) {
      let body;
      try {
        body = await readFile(path.join(folder, name), "utf8");
      } catch {
        continue; // the other folder may have it
      }
      if (name === "index.html") body = body.replace('src="gamehoster.js"', `src="${this.library}"`).replaceAll("'self'", this.sources);
      return route.fulfill({ body, contentType: KINDS[path.extname(name)] });
    }
    return route.fulfill({ status: 404 });
  }
}
