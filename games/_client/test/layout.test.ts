import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as layout from "../src/layout";

test("the offsets are those of the server's schema package", () => {
	const go = readFileSync("../schema/layout.go", "utf8") + readFileSync("../schema/schema.go", "utf8");
	let checked = 0;
	for (const [name, value] of Object.entries(layout)) {
		const found = new RegExp(`^\\s*${name}\\s*=\\s*([0-9a-fx]+)`, "m").exec(go);
		// that one exists on clients only
		if (name === "FirstProvisional") continue;
		assert.ok(found, name + " is unknown to the server");
		assert.equal(Number(found[1]), value, name);
		checked++;
	}
	assert.ok(checked > 15);
});
