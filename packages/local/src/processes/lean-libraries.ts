import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Plugin } from "rolldown";

/**
 * What bundles leave out of libraries. There are two copies of the HTTP client undici, Node's own
 * and the package, each with `fetch`, web sockets, caches and mocks. Bundles load of the package
 * what sends requests, and nothing of Node's own until a program calls `fetch`
 * (`bench/README.md`).
 */

/**
 * Connect makes `Headers`. Node would load its own undici for them. The build of an image has this
 * file apart from the repository, so undici is looked for beside the program first.
 *
 * @param folder Of the program: a service or a package.
 */
export function leanHeaders(folder: string): Record<string, [string, string]> {
  const places = [join(folder, "../../packages"), join(import.meta.dirname, "../../..")];
  const shared = places.map((place) => join(place, "shared/package.json")).find(existsSync);
  if (shared === undefined) throw new Error(`${folder} is not part of the repository`);
  return { Headers: [createRequire(shared).resolve("undici"), "Headers"] };
}

/**
 * An `import` of `node:http` reads each of its members. One is the class `WebSocket`, for which
 * Node loads its own undici. The module that `require` returns loads nothing until it is read.
 */
const HTTP = "\0http.cjs";
const HTTP_CODE = `module.exports = process.getBuiltinModule("node:http");`;

const UNDICI_CODE = `
const Dispatcher = require("./lib/dispatcher/dispatcher.js");
Object.assign(Dispatcher.prototype, require("./lib/api/index.js"));
const { getGlobalDispatcher } = require("./lib/global.js");
module.exports = {
  Agent: require("./lib/dispatcher/agent.js"),
  Client: require("./lib/dispatcher/client.js"),
  Dispatcher,
  Headers: require("./lib/web/fetch/headers.js").Headers,
  Pool: require("./lib/dispatcher/pool.js"),
  request: (url, { dispatcher = getGlobalDispatcher(), ...options }) => {
    const { origin, pathname, search } = new URL(url);
    return dispatcher.request({ ...options, origin, path: pathname + search });
  },
};
`;

export const leanLibraries: Plugin = {
  name: "lean-libraries",
  resolveId: (id) => (/^(node:)?http$/.test(id) ? HTTP : null),
  load: (id) => {
    if (id === HTTP) return HTTP_CODE;
    return id.endsWith("/node_modules/undici/index.js") ? UNDICI_CODE : null;
  },
};
