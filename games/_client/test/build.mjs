// Bundles each test with what it imports, so that Node runs the library's own
// TypeScript, and weighs the library as pages load it.
import { build } from "esbuild";
import { readdirSync, rmSync } from "node:fs";
import { gzipSync } from "node:zlib";

const budget = 17_000; // bytes, gzipped, without a game's own

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

const library = await build({ entryPoints: ["src/index.ts"], bundle: true, minify: true, format: "iife", target: "es2020", write: false });
const size = gzipSync(library.outputFiles[0].contents, { level: 9 }).length;
console.log(`library: ${size} bytes gzipped, of ${budget}`);
if (size > budget) process.exit(1);
