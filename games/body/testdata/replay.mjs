// Replays recordings (see the Go package replay) in this engine, one for each file
// named, and prints the sums of each on a line.
import { readFileSync } from "node:fs";

const headerCounts = 32, inputHeader = 16, allActors = 0xffffffff, rerunsPerBody = 8;

function run(file) {
	const cut = file.indexOf(10);
	const head = JSON.parse(file.subarray(0, cut).toString());
	const code = file.subarray(cut + 1, cut + 1 + head.code);
	const inputs = file.subarray(cut + 1 + head.code);
	const { memory, tick, start, heap, fault, fault_body, fault_actor } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports;
	memory.grow(Math.floor((head.size + 65536) / 65536) + 1);
	const base = heap.value, input = base + head.size;
	const view = new DataView(memory.buffer), bytes = new Uint8Array(memory.buffer), words = new Uint32Array(memory.buffer);
	view.setUint32(base + 8, 2, true);
	view.setUint32(base + 12, 4, true);
	view.setBigUint64(base + 16, BigInt(head.seed), true);
	view.setBigUint64(base + 24, BigInt(head.serverSeed), true);
	start?.(base);

	let low = 0, high = 0, faults = 0;
	const add = (from, to) => {
		for (let i = from >> 2; i < to >> 2; i++) {
			const v = words[i];
			low = Math.imul(low ^ v, 16777619);
			high = Math.imul(((high << 5) | (high >>> 27)) ^ v, 2654435761);
		}
	};
	const sum = () => {
		add(base, base + headerCounts);
		for (const type of head.types) {
			const n = type.counts < 0 ? 1 : words[(base + type.counts) >> 2];
			for (let i = 0; i < n; i++) {
				const row = base + type.rows + i * type.stride;
				add(row, row + 4);
				add(row + 8, row + type.stride);
			}
		}
	};
	const write = (at, size, skips) => {
		if (size === 0 && skips.length === 0) return 0;
		bytes.fill(0, input, input + inputHeader);
		bytes.set(inputs.subarray(at, at + Math.min(size, inputHeader)), input);
		view.setUint32(input, skips.length / 2, true);
		skips.forEach((v, i) => view.setUint32(input + inputHeader + 4 * i, v, true));
		if (size > 0) bytes.set(inputs.subarray(at + inputHeader, at + size), input + inputHeader + 4 * skips.length);
		return input;
	};
	const before = new Uint8Array(head.size);
	const step = (at, size) => {
		before.set(bytes.subarray(base, input));
		const skips = [];
		for (;;) {
			try {
				return tick(base, write(at, size, skips));
			} catch (e) {
				if (!(e instanceof WebAssembly.RuntimeError) || fault.value === 0) throw e;
				bytes.set(before, base);
				faults++;
				const times = skips.filter((v, i) => i % 2 === 0 && v === fault_body.value >>> 0).length;
				if (times > rerunsPerBody) throw e;
				skips.push(fault_body.value >>> 0, times === rerunsPerBody ? allActors : fault_actor.value >>> 0);
			}
		}
	};

	const sums = [];
	const hex = (v) => (v >>> 0).toString(16).padStart(8, "0");
	for (let t = 1, at = 0; t <= head.ticks; t++) {
		let size = 0;
		if (at + 8 <= inputs.length && inputs.readUInt32LE(at) === t) {
			size = inputs.readUInt32LE(at + 4);
			at += 8;
		}
		step(at, size);
		at += size;
		sum();
		if (t % head.every === 0) sums.push(hex(high) + hex(low));
	}
	return [...sums, faults].join(" ");
}

for (const name of process.argv.slice(2)) console.log(run(readFileSync(name)));
