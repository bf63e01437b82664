// Bundles each test with what it imports, so that Node runs the library's own TypeScript.
import { build } from "esbuild";
import { readdirSync, rmSync } from "node:fs";

rmSync("build", { recursive: true, force: true });
await build({
	entryPoints: readdirSync("test").filter((f) => f.endsWith(".test.ts")).map((f) => "test/" + f),
	outdir: "build/test",
	outExtension: { ".js": ".mjs" },
	bundle: true,
	format: "esm",
	platform: "node",
	target: "node20",
	sourcemap: "inline",
});
