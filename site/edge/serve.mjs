// Runs the Worker as wrangler.jsonc describes it in Cloudflare's runtime, on this
// machine and with nothing kept, prints its address, and ends with its input.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const here = dirname(fileURLToPath(import.meta.url));
const config = JSON.parse(readFileSync(resolve(here, "wrangler.jsonc"), "utf8").replace(/^\s*\/\/.*$/gm, ""));
const worker = dirname(resolve(here, config.main));
const module = (type, name) => ({ type, path: resolve(worker, name) });

const miniflare = new Miniflare({
	host: "127.0.0.1",
	port: 0,
	cf: false,
	modulesRoot: worker,
	modules: [
		module("ESModule", "worker.mjs"),
		module("ESModule", "runtime.mjs"),
		module("ESModule", "wasm_exec.js"),
		module("CompiledWasm", "app.wasm"),
	],
	compatibilityDate: config.compatibility_date,
	kvNamespaces: config.kv_namespaces.map((namespace) => namespace.binding),
	ratelimits: Object.fromEntries(config.ratelimits.map(({ name, simple }) => [name, { simple }])),
	assets: {
		directory: resolve(here, config.assets.directory),
		binding: config.assets.binding,
		routerConfig: { has_user_worker: true, static_routing: { user_worker: config.assets.run_worker_first } },
		assetConfig: { html_handling: config.assets.html_handling, compatibility_date: config.compatibility_date },
	},
});
console.log((await miniflare.ready).href);
process.stdin.on("end", async () => {
	await miniflare.dispose();
	process.exit();
});
process.stdin.resume();
