// The loader. The build puts Go's wasm_exec.js before it, so that one file does
// for the page and for its workers: a worker that loads a second script would
// not pass Trusted Types.
(() => {
	"use strict";

	// run runs a compiled program to its end, which is not meant to come.
	const run = async (module) => {
		const go = new Go();
		await go.run(await WebAssembly.instantiate(module, go.importObject));
		throw new Error("the program ended");
	};

	if (typeof document === "undefined") { // a worker
		onmessage = ({ data }) =>
			run(data.module).catch((e) => postMessage({ t: "died", gen: 0, text: e.message || String(e) }));
		return;
	}

	const script = document.currentScript.src;
	const scripts = [script, new URL("sw.js", script).href];

	// Vugu sets innerHTML, from markup that is constant in the program, and
	// makes its helper functions by eval; Go starts workers from this script, and offline.js has
	// its own. Nothing else that could run code is let through.
	const refuse = () => null;
	self.trustedTypes?.createPolicy("default", {
		createHTML: (s) => s,
		createScript: refuse,
		createScriptURL: (url) => scripts.includes(url) ? url : null,
	});

	// Vugu's helpers are in this file already, so its one call of eval has nothing to do. The
	// policy for content would not let it, either.
	const { eval: real } = self;
	self.eval = () => { self.eval = real; };

	// A render can take away the field that has the focus, which tells of its change at once. Vugu
	// would wait for the render to end before it looks at that, and so for ever. What was typed is
	// known already.
	const { vuguRender } = self;
	let rendering = false;
	self.vuguRender = () => {
		rendering = true;
		try {
			vuguRender.call(self);
		} finally {
			rendering = false;
		}
	};
	for (const type of ["change", "input"]) {
		addEventListener(type, (e) => rendering && e.stopImmediatePropagation(), true);
	}

	// Escape takes away the tip that is shown, until something else is done.
	const silence = (silent) => document.body.classList.toggle("silent", silent);
	addEventListener("keydown", (e) => silence(e.key === "Escape"));
	addEventListener("pointerover", () => silence(false));

	// tell shows what went wrong, above the page.
	const tell = (text) => {
		const p = document.getElementById("trouble");
		p.textContent = text;
		p.hidden = false;
	};

	// stop tells why there is no page, or no longer.
	const stop = (text) => {
		tell(text);
		document.getElementById("app").setAttribute("aria-busy", "false");
		document.querySelector("main.loading")?.remove();
		if (navigator.serviceWorker?.controller && self.offline) { // then a newer version may do better
			offline.changed = () => offline.newer && offline.take();
			offline.start();
		}
	};

	const compile = async (url) => {
		const response = await fetch(url);
		if (!response.ok) {
			throw new Error(`the server answered “${response.status} ${response.statusText}” for ${url}`);
		}
		if (response.headers.get("Content-Type") === "application/wasm") {
			return WebAssembly.compileStreaming(response);
		}
		return WebAssembly.compile(await response.arrayBuffer()); // a host that does not know the type
	};

	const main = async () => {
		if (typeof WebAssembly !== "object" || !self.Worker) {
			stop("This browser has no WebAssembly or no workers, and the simulator needs both. The command “schedlab run” needs neither.");
			return;
		}
		let module;
		try {
			module = await compile(new URL("app.wasm", script));
		} catch (e) {
			stop(`The simulator could not be loaded: ${e.message}. Reload the page to try again.`);
			return;
		}
		self.schedlab = { script, module, tell };
		try {
			await run(module);
		} catch (e) {
			stop(`The page has stopped working: ${e.message}. Reload it to start again; the link in the address bar has your question.`);
		}
	};
	main();
})();
