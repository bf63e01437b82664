// Runs games as the JavaScript they are beside what the compiler made of them, one
// after the other. stdin: a job a line, as JSON. stdout: a line of JSON for each.
import { createInterface } from "node:readline";
import path from "node:path";
import { SourceTextModule } from "node:vm";
import { Module } from "./module.mjs";
import { World } from "./world.mjs";

// The maths library is ours on both sides.
let maths;
function install(script) {
	if (script && script !== maths) Object.assign(Math, new Function(script)());
	maths = script || maths;
}

// load gives the bodies of a game, its files being modules of their own.
async function load(job) {
	const modules = new Map();
	const find = (from, spec) => {
		const name = path.join(path.dirname(from), spec);
		for (const full of [name, name + ".js"]) if (job.files[full] !== undefined) return full; // TypeScript may leave it out
		return name.slice(name.indexOf("_shared/"));
	};
	const module = (name) => {
		if (job.files[name] === undefined) throw new Error("no file " + name);
		if (!modules.has(name)) modules.set(name, new SourceTextModule(job.files[name], { identifier: name }));
		return modules.get(name);
	};
	const bodies = [];
	for (const [number, b] of job.bodies.entries()) {
		const m = module(b.file);
		if (m.status === "unlinked") await m.link((spec, from) => module(find(from.identifier, spec)));
		if (m.status === "linked") await m.evaluate();
		bodies.push({ number, server: b.server, name: b.name, call: m.namespace[b.name.slice(b.name.lastIndexOf(".") + 1)] });
	}
	return bodies;
}

// How often a client's world is made the server's again.
const resync = 8;

async function run(job) {
	install(job.math);
	const bodies = await load(job);
	const world = new World(job, bodies, true);
	const others = [];
	if (job.server) others.push(new Module(job, "server"));
	const client = job.client && { world: new World(job, bodies, false), module: new Module(job, "client") };
	const lines = [];
	const check = (what, tick, want, got) => {
		if (want.print(false) === got.print(false) && want.faults === got.faults) return;
		throw new Error(`${what}: state ${tick} differs (faults ${want.faults} and ${got.faults})\njavascript ${want.print(true)}\nmodule     ${got.print(true)}`);
	};
	world.start();
	for (const m of others) m.start();
	for (let tick = 0; ; tick++) {
		lines.push(world.print(tick >= job.dump));
		for (const m of others) check("the server's module in node", tick, world, m);
		if (client && tick > 0) check("the client's module in node", tick, client.world, client.module);
		if (tick === job.ticks) break;
		const input = job.inputs[tick + 1] ?? {};
		if (client) {
			if (tick % resync === 0 || input.joins?.length || input.leaves?.length) {
				client.world.copy(world);
				client.module.load(client.world);
			}
			client.world.step({ commands: input.commands });
			client.module.step(input.raw);
		}
		world.step(input);
		for (const m of others) m.step(input.raw);
	}
	return { lines, logged: world.logged, faults: world.faults };
}

for await (const line of createInterface({ input: process.stdin })) {
	let reply;
	try {
		reply = await run(JSON.parse(line));
	} catch (e) {
		reply = { error: e.stack };
	}
	process.stdout.write(JSON.stringify(reply) + "\n");
}
