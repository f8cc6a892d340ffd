// The service worker: it has one version of the page, whole, and serves it with or without the
// network. The build puts before it what that version is:
//
//	version, model   of the page
//	files            all there is, by address: the digest of what has a hash in its name, "" of documents
//
// Caches belong to the whole origin, which may have more pages than this one: so this one's names begin
// with its own place. offline.js, in the page, has the same names, and removes what nobody uses.
(() => {
	"use strict";

	const { scope } = registration;
	const name = `schedlab ${scope} ${version}`;
	const at = (file) => new URL(file, scope).href;

	// whole tells whether a document is one of that version, up to its end: it has the version at both. A digest, as
	// for the other files, would shut out hosts that put something of theirs into all documents, and leave
	// those who have a version already with that for ever. One that is cut does no harm behind its second mark.
	const whole = (text, version) => text.indexOf(version) < text.lastIndexOf(version);

	// get fetches a file of this version. A host that is being given another version, or that answers
	// with a document of its own where it has no such file, does not pass.
	const get = async (file) => {
		const integrity = files[file];
		if (integrity) {
			return fetch(at(file), { integrity }).catch(() => fetch(at(file), { integrity, cache: "reload" }));
		}
		const response = await fetch(at(file), { cache: "no-store" });
		if (!response.ok || !whole(await response.clone().text(), version)) {
			throw new Error(`${file} is not, or not whole, of version ${version}`);
		}
		// One that came from another address would not do for a navigation.
		return response.redirected ? new Response(response.body, { headers: response.headers }) : response;
	};

	// All or nothing: a worker that fails here is never used, and the browser tries again at the next visit.
	const install = async () => {
		const all = await Promise.all(Object.keys(files).map(async (file) => [at(file), await get(file)]));
		const cache = await caches.open(name);
		await Promise.all(all.map(([url, response]) => cache.put(url, response)));
		if (await stuck()) {
			skipWaiting();
		}
	};

	// stuck tells whether a version was kept with a part of its document, as workers once did: nobody can ask there
	// for a newer one. Other pages have their files until they are reloaded, as when one asks.
	const stuck = async () => {
		for (const kept of await caches.keys()) {
			const document = kept.startsWith(name.slice(0, -version.length)) && await (await caches.open(kept)).match(at("./"));
			if (document && !(await document.text()).includes("</html>")) {
				return true;
			}
		}
		return false;
	};
	oninstall = (event) => event.waitUntil(install());

	// A file with a hash in its name is the same in any version, and a page of an older one may
	// still ask for its own. Only what a browser has thrown away comes from the network.
	const serve = async (request, file) => {
		const from = Object.hasOwn(files, file) ? await caches.open(name) : caches;
		return await from.match(at(file), { ignoreVary: true }) ?? fetch(request);
	};

	onfetch = (event) => {
		const { request } = event;
		const [url] = request.url.split(/[?#]/);
		if (request.method !== "GET" || !url.startsWith(scope)) {
			return;
		}
		const file = url.slice(scope.length).replace(/^(index\.html)?$/, "./"); // whatever the question
		if (Object.hasOwn(files, file) || /^[\w-]+\.[0-9a-f]{12}\.\w+$/.test(file)) {
			event.respondWith(serve(request, file));
		}
	};

	// The page asks who this is, or has it take over from the version before.
	onmessage = ({ data, ports }) => {
		if (data === "who") {
			ports[0].postMessage({ version, model });
		} else if (data === "take over") {
			skipWaiting();
		}
	};
})();
