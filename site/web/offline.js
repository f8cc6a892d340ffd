// Offline keeps the page for the time without a network, by the service worker sw.js, and finds out
// when the host has a newer version. The page's program starts it once it has shown something, and
// shows what it finds:
//
//	version    of this page
//	kept       the {version, model} that would come without a network, or null
//	why        there is none, if it is known that there will be none
//	newer      the {version, model} that is ready to take over from this page's, or null
//	changed    is called when these have changed
//	start      keeps the page and looks for a newer version
//	take       reloads into the newer version
//
// Each open page holds a lock that is called like its version's cache, so a cache that nobody
// uses any more can be told: see tidy.
(() => {
	"use strict";

	const { serviceWorker: container, locks } = navigator;
	const script = new URL("sw.js", document.currentScript.src).href;
	const caches = self.caches;
	const scope = new URL("./", script).href;
	const { content: version } = document.querySelector("meta[name=version]");
	const name = (version) => `schedlab ${scope} ${version}`;

	const offline = self.offline = { version, kept: null, why: "", newer: null, changed() {}, start, take };
	let registration;
	let known = false; // a worker with this page's version has been seen

	// This comes right after app.js, and is the one who can tell that there is none, or something else in its place.
	if (!self.Go) {
		const p = document.getElementById("trouble");
		p.textContent = "The simulator could not be loaded: the host has only a part of this page just now. Reload it to try again.";
		p.hidden = false;
		document.getElementById("app").setAttribute("aria-busy", "false");
		document.querySelector("main.loading")?.remove();
	}

	locks?.request(name(version), { mode: "shared" }, () => new Promise(() => {})).catch(() => {});

	// who asks a worker for its version; null if there is no worker or no answer.
	const who = (worker) => worker ? new Promise((resolve) => {
		const { port1, port2 } = new MessageChannel();
		port1.onmessage = ({ data }) => resolve(data);
		worker.addEventListener("statechange", () => worker.state === "redundant" && resolve(null));
		worker.postMessage("who", [port2]);
	}) : null;

	const whoAll = () => Promise.all([registration.active, registration.waiting].map(who));

	// look finds out which versions are kept, once those that are on their way have come.
	const look = async () => {
		if (registration.installing || registration.waiting && !registration.active) {
			return;
		}
		const [active, waiting] = await whoAll();
		known ||= [active, waiting].some((w) => w?.version === version);
		offline.kept = active;
		offline.why = active ? "" : "the host has no whole version of it just now, or changes its files, or there is no room for it here";
		// A worker from before a page that came past it, as by a forced reload, is no newer one.
		offline.newer = [waiting, known && active].find((w) => w && w.version !== version) || null;
		offline.changed();
		await tidy();
	};

	// tidy removes the versions that are neither a worker's nor an open page's.
	const tidy = async () => {
		const names = await caches.keys(); // first: what comes later is not among them
		const { held } = await locks.query();
		if (registration?.installing) {
			return;
		}
		const workers = registration ? await whoAll() : [];
		const used = new Set([...held.map((lock) => lock.name), ...workers.map((w) => name(w?.version))]);
		for (const old of names) {
			if (old.startsWith(name("")) && !used.has(old)) {
				await caches.delete(old);
			}
		}
	};

	// withdrawn tells whether the host has no such worker any more, or something else in its place, as
	// those that answer anything with a document. Browsers would go on with theirs for ever. One that sends on to a
	// place to sign in, say, may still have it.
	const withdrawn = async () => {
		const { status, ok, headers } = await fetch(script, { cache: "no-store", redirect: "error" });
		return status === 404 || status === 410 || ok && !/script/i.test(headers.get("Content-Type"));
	};

	const watch = (worker) => worker?.addEventListener("statechange", () => look().catch(fail));

	const fail = (e) => {
		offline.why = e instanceof TypeError ? "this host has nothing to keep it by" : e.message || String(e);
		offline.changed();
	};

	async function start() {
		if (registration) {
			return;
		}
		if (!container || !locks || !caches) {
			fail(new Error(self.isSecureContext ? "this browser keeps no pages" : "browsers keep pages only of https hosts and of this machine"));
			return;
		}
		try {
			registration = await container.register(script, { updateViaCache: "none" });
			registration.addEventListener("updatefound", () => watch(registration.installing));
			watch(registration.installing);
			watch(registration.waiting);
			if (!await registration.update().catch(() => false) && await withdrawn().catch(() => false)) {
				await registration.unregister();
				throw new Error("the host keeps it no more");
			}
			await look();
		} catch (e) {
			fail(e);
			await tidy().catch(() => {});
		}
	}

	// take gives the newer version the word, and this page is the only one to be reloaded: others are asked in
	// their own time, and have their own version's files until then.
	function take() {
		const { waiting } = registration;
		if (!waiting) { // another page did it
			location.reload();
			return;
		}
		waiting.addEventListener("statechange", () => waiting.state === "activated" && location.reload());
		waiting.postMessage("take over");
	}
})();
