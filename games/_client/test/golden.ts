import { readFileSync } from "node:fs";
import type { GameConfig } from "../src/config";

// The vectors of the protocol, which the server's encoder is held to as well.
const folder = "../../wire/testdata/";

export interface Vector {
	name: string;
	bytes: Uint8Array;
	/** What the message means. */
	expect: Record<string, any>;
}

export const goldenConfig = JSON.parse(readFileSync(folder + "config.json", "utf8")) as GameConfig;

const expected = JSON.parse(readFileSync(folder + "expected.json", "utf8")) as Record<string, Record<string, any>[]>;

/** The messages of one golden file: a line "# name" before each, then lines of hex, each with a note after a bar. */
export function golden(file: string): Vector[] {
	const list: Vector[] = [];
	let bytes: number[] = [];
	for (const line of readFileSync(folder + file + ".golden", "utf8").split("\n")) {
		if (line.startsWith("# ")) {
			bytes = [];
			const name = line.slice(2);
			list.push({ name, bytes: new Uint8Array(0), expect: expected[file]?.find((e) => e.name === name) ?? {} });
			continue;
		}
		for (const digits of line.split("|")[0].trim().split(/\s+/)) if (digits) bytes.push(parseInt(digits, 16));
		if (list.length > 0) list[list.length - 1].bytes = Uint8Array.from(bytes);
	}
	return list;
}
