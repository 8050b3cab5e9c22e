import { posix } from "node:path";

/** Where a source file stands: its package, and inside a service the folder under `src` ("" beside main.ts). */
interface Place {
  readonly group: string;
  readonly name: string;
  readonly layer: string | undefined;
}

/** One import as the linter sees it. Paths are relative to the repository root, with forward slashes. */
export interface ImportEdge {
  readonly file: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const EDGES = new Set(["rpc", "routes", "consumers", "jobs"]);
const OUTSIDE = new Set(["db", "connectors", "storage", "clients"]);
const SERVICES = new Set(["gateway", "accounts", "posts", "media", "delivery"]);

/** The modules of shared that a pure rule may use: reference data, identifiers, error types. */
const PURE_SHARED = /^@postrider\/shared\/(platforms\/|ids$|errors$)/;

/** Hashing is a pure function of its input, so domain code may ask Node for it. */
const PURE_BUILTINS = new Set(["node:crypto"]);

/**
 * Says why an import breaks the layering of the code base, or undefined when it is allowed.
 * Tests may import anything: they stand outside the layers.
 */
export function layeringFault(edge: ImportEdge): string | undefined {
  if (edge.file.endsWith(".test.ts")) return undefined;
  const from = placeOf(edge.file);
  if (from === undefined) return undefined;
  const to = targetOf(edge, from);
  return packageFault(from, to) ?? serviceFault(from, to, edge);
}

function placeOf(file: string): Place | undefined {
  const match = /^(services|packages)\/([^/]+)\/src\/(?:([^/]+)\/)?[^/]+/.exec(file);
  if (match === null) return undefined;
  const [, group = "", name = "", layer = ""] = match;
  return { group, name, layer: group === "services" ? layer : undefined };
}

/** The place an import leads to, or undefined for Node's and third-party modules. */
function targetOf(edge: ImportEdge, from: Place): Place | undefined {
  const { file, specifier } = edge;
  if (specifier.startsWith(".")) return placeOf(posix.join(posix.dirname(file), specifier));
  if (specifier.startsWith("#src/")) {
    return placeOf(`${from.group}/${from.name}/src/${specifier.slice("#src/".length)}`);
  }
  const name = /^@postrider\/([^/]+)/.exec(specifier)?.[1];
  if (name === undefined) return undefined;
  return { group: SERVICES.has(name) ? "services" : "packages", name, layer: undefined };
}

function packageFault(from: Place, to: Place | undefined): string | undefined {
  const inside = to === undefined || (to.group === from.group && to.name === from.name);
  return inside ? undefined : foreignFault(from, to);
}

function foreignFault(from: Place, to: Place): string | undefined {
  if (from.name === "simulator" || from.name === "contracts") {
    return `${from.name} stands alone and imports none of our packages, here ${to.name}.`;
  }
  if (from.name === "shared" && to.name !== "contracts") {
    return `shared knows nothing of ${to.name}: only contracts lie below it.`;
  }
  if (from.group === "services" && to.name !== "shared" && to.name !== "contracts") {
    return `A service imports shared and contracts only, never ${to.name}: ask it by RPC.`;
  }
  return undefined;
}

function serviceFault(from: Place, to: Place | undefined, edge: ImportEdge): string | undefined {
  if (from.layer === undefined) return undefined;
  if (from.layer === "domain") return domainFault(to, edge);
  if (to?.layer === undefined || to.layer === from.layer) return undefined;
  if (EDGES.has(from.layer) && EDGES.has(to.layer)) {
    return `${from.layer} and ${to.layer} are both edges: move what they share into domain, db or clients.`;
  }
  return OUTSIDE.has(from.layer) ? outsideFault(from.layer, to.layer, edge) : undefined;
}

function domainFault(to: Place | undefined, edge: ImportEdge): string | undefined {
  if (to?.layer === "domain" || PURE_SHARED.test(edge.specifier)) return undefined;
  if (PURE_BUILTINS.has(edge.specifier)) return undefined;
  return `domain is pure: it imports only domain and reference data of shared, not ${edge.specifier}.`;
}

function outsideFault(from: string, to: string, edge: ImportEdge): string | undefined {
  if (to !== "domain") {
    return `${from} imports types of domain, shared and contracts, never ${to === "" ? edge.specifier : to}.`;
  }
  return edge.typeOnly ? undefined : `${from} uses only the types of domain: write "import type".`;
}
