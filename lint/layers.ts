import { globSync, readFileSync } from "node:fs";
import { resolve, posix } from "node:path";
import { networkFault } from "./network-folders.ts";

const RPC = /^\s*rpc (\w+)\(/gm;

function toKebabCase(name: string): string {
  return name.replaceAll(/(?<!^)(?=[A-Z])/g, "-").toLowerCase();
}

/** The file names of all RPCs that the contracts declare, for example `create-post.ts`. */
function listRpcFiles(root: string): ReadonlySet<string> {
  const protos = globSync("proto/**/*_service.proto", { cwd: root });
  const names = protos.flatMap((file) =>
    [...readFileSync(resolve(root, file), "utf8").matchAll(RPC)].map(([, name = ""]) => name),
  );
  return new Set(names.map((name) => `${toKebabCase(name)}.ts`));
}

/**
 * Where a source file is: its package, and for a file of a service the part of the service and the
 * layer.
 */
interface Place {
  readonly group: string;
  readonly name: string;
  /**
   * The part of the delivery service that the file belongs to; undefined in the other services and
   * for files directly in `src`.
   */
  readonly trade: string | undefined;
  /**
   * Name of the folder below `src`, or below the folder of a part of the delivery service. "" for
   * files directly in `src`; undefined for files of packages.
   */
  readonly layer: string | undefined;
  readonly fileName: string;
}

/**
 * One import as the linter sees it. Paths are relative to the repository root, with forward
 * slashes.
 */
export interface ImportEdge {
  readonly file: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const EDGES = new Set(["rpc", "routes", "consumers", "jobs"]);
const OUTSIDE = new Set(["db", "storage", "clients"]);
const SERVICES = new Set(["gateway", "accounts", "posts", "media", "delivery"]);

/**
 * The parts of the delivery service. Each part is a folder that contains the same layers as a whole
 * service.
 */
const TRADES = new Set(["publishing", "webhooks", "engagement"]);

/**
 * The files that a service may have directly in `src`; every other file must be in the folder of a
 * layer.
 */
const ROOT_FILES = new Set(["main.ts", "app.ts", "config.ts", "events.ts", "migrate.ts"]);

/**
 * Layers that only one service has. `inspection` inspects uploaded files in a separate process, and
 * all trades of delivery use `calls`.
 */
const OWN_LAYERS: Readonly<Record<string, readonly string[]>> = {
  gateway: ["http", "admission"],
  media: ["inspection"],
  delivery: ["calls"],
};

/**
 * Packages that domain code may import, because they contain only reference data, identifiers and
 * error types.
 */
const PURE_MODULES =
  /^@postrider\/(platforms\/(platform-id|registry|rules|renditions\/.+|settings\/read-settings|text\/.+)|shared\/(ids|errors))$/;

/**
 * The pure files of `calls`, on which the domain of each trade of the delivery service is built.
 */
const PURE_CALLS = /^#src\/calls\/(breaker|call|call-event|decide|decide-in-order|kinds)\.ts$/;

/**
 * Domain code may import types of the platforms package, because the publishing rules decide on the
 * results of platform calls.
 */
const PURE_TYPES = /^@postrider\/platforms\//;

/** Domain code may import Node's hash functions, because a hash depends only on its input. */
const PURE_BUILTINS = new Set(["node:crypto"]);

const RPC_FILES = listRpcFiles(resolve(import.meta.dirname, ".."));

/**
 * Files in the folder `rpc` that implement no RPC: the routing of RPCs to their handlers, shared
 * dependencies, and conversions between messages and domain types.
 */
const BESIDE_RPCS = /^(?:routes|dependencies|[a-z-]+-service|(?:to|parse)-[a-z-]+)\.ts$/;

/** Returns why a source file may not be in its folder, or undefined when it may. */
export function placeFault(file: string): string | undefined {
  const place = placeOf(file);
  if (place?.layer === undefined) return undefined;
  if (place.layer === "") {
    const name = place.fileName.replace(/\.test\.ts$/, ".ts");
    return ROOT_FILES.has(name)
      ? undefined
      : `Only ${[...ROOT_FILES].join(", ")} lie directly in src: move ${place.fileName} into its layer.`;
  }
  if (!isLayer(place, place.layer))
    return `"${place.layer}" is not a layer of a service: see "Where code belongs" in CONTRIBUTING.md.`;

  return place.layer === "rpc" ? rpcFault(place.fileName) : undefined;
}

function rpcFault(fileName: string): string | undefined {
  const name = fileName.replace(/\.test\.ts$/, ".ts");
  if (RPC_FILES.has(name) || BESIDE_RPCS.test(name)) return undefined;
  return `${fileName} is not named after an RPC: move it into operations, domain or db.`;
}

function isLayer({ name, trade }: Place, layer: string): boolean {
  if (TRADES.has(layer) && trade === undefined) return false;
  return (
    EDGES.has(layer) ||
    OUTSIDE.has(layer) ||
    layer === "domain" ||
    layer === "operations" ||
    OWN_LAYERS[name]?.includes(layer) === true
  );
}

/**
 * Returns why an import breaks the layering of the code base, or undefined when the import is
 * allowed. Test files may import anything, because they belong to no layer.
 */
export function layeringFault(edge: ImportEdge): string | undefined {
  if (/\.test\.tsx?$/.test(edge.file)) return undefined;
  const from = placeOf(edge.file);
  if (from === undefined) return undefined;
  const to = targetOf(edge, from);
  return networkFault(edge) ?? packageFault(from, to, edge) ?? serviceFault(from, to, edge);
}

function placeOf(file: string): Place | undefined {
  const match = /^(services|packages)\/([^/]+)\/src\/(.+)$/.exec(file);
  if (match === null) return undefined;
  const [, group = "", name = "", path = ""] = match;
  const fileName = posix.basename(path);
  if (group === "packages") return { group, name, trade: undefined, layer: undefined, fileName };
  const folders = posix.dirname(path).split("/");
  const trade = name === "delivery" ? folders.find((folder) => TRADES.has(folder)) : undefined;
  const layer = (trade === undefined ? folders[0] : folders[1]) ?? "";
  return { group, name, trade, layer: layer === "." ? "" : layer, fileName };
}

/**
 * Returns where an imported file is, or undefined when the import is a module of Node or of a third
 * party.
 */
function targetOf(edge: ImportEdge, from: Place): Place | undefined {
  const { file, specifier } = edge;
  if (specifier.startsWith(".")) return placeOf(posix.join(posix.dirname(file), specifier));
  if (specifier.startsWith("#src/"))
    return placeOf(`${from.group}/${from.name}/src/${specifier.slice("#src/".length)}`);

  const name = /^@postrider\/([^/]+)/.exec(specifier)?.[1];
  if (name === undefined) return undefined;
  const group = SERVICES.has(name) ? "services" : "packages";
  return { group, name, trade: undefined, layer: undefined, fileName: "" };
}

function packageFault(from: Place, to: Place | undefined, edge: ImportEdge): string | undefined {
  if (to === undefined || (to.group === from.group && to.name === from.name)) return undefined;
  // The dashboard runs in browsers: of the JSON that services write it takes only the types.
  if (from.name === "dashboard" && to.name === "rest" && !edge.typeOnly)
    return 'dashboard uses only the types of rest: write "import type".';

  return foreignFault(from, to);
}

/** The packages of this repository that each package below the services may import. */
const BELOW: Readonly<Record<string, ReadonlySet<string>>> = {
  simulator: new Set(),
  client: new Set(),
  contracts: new Set(),
  shared: new Set(["contracts"]),
  platforms: new Set(["shared"]),
  rest: new Set(["shared", "platforms", "contracts"]),
  dashboard: new Set(["client", "rest"]),
};
const BELOW_SERVICES = new Set(["shared", "platforms", "rest", "contracts"]);

function foreignFault(from: Place, to: Place): string | undefined {
  const allowed = from.group === "services" ? BELOW_SERVICES : BELOW[from.name];
  if (allowed === undefined || allowed.has(to.name)) return undefined;
  if (from.group === "services")
    return `A service imports only ${[...allowed].join(", ")}, never ${to.name}: call it by RPC.`;

  const below = allowed.size === 0 ? "none of our packages" : `only ${[...allowed].join(", ")}`;
  return `${from.name} imports ${below}, here ${to.name}.`;
}

function serviceFault(from: Place, to: Place | undefined, edge: ImportEdge): string | undefined {
  if (from.layer === undefined) return undefined;
  if (from.layer === "domain") return domainFault(to, edge);
  if (to?.layer === undefined) return undefined;
  return tradeFault(from, to) ?? layerFault(from.layer, to.layer, edge);
}

function tradeFault(from: Place, to: Place): string | undefined {
  if (from.trade === undefined || to.trade === undefined || from.trade === to.trade)
    return undefined;

  return `${from.trade} and ${to.trade} do not import each other: each has its own tables and jobs.`;
}

function layerFault(from: string, to: string, edge: ImportEdge): string | undefined {
  if (from === to || from === "") return undefined;
  if (EDGES.has(from) && EDGES.has(to))
    return `${from} and ${to} are both edges: move what they share into operations, domain or db.`;

  if (from === "operations" && EDGES.has(to))
    return `operations are called by edges, so they import none: here ${to}.`;

  return OUTSIDE.has(from) ? outsideFault(from, to, edge) : undefined;
}

function domainFault(to: Place | undefined, edge: ImportEdge): string | undefined {
  if (to?.layer === "domain" || PURE_MODULES.test(edge.specifier)) return undefined;
  if (edge.typeOnly && PURE_TYPES.test(edge.specifier)) return undefined;
  if (PURE_BUILTINS.has(edge.specifier) || PURE_CALLS.test(edge.specifier)) return undefined;
  return `domain is pure: it imports only domain and the reference data of platforms, not ${edge.specifier}.`;
}

function outsideFault(from: string, to: string, edge: ImportEdge): string | undefined {
  // The tables of a trade are described for the statements that all trades share.
  if (to === "calls") return undefined;
  if (to !== "domain")
    return `${from} imports types of domain, shared, platforms and contracts, never ${to === "" ? edge.specifier : to}.`;

  return edge.typeOnly ? undefined : `${from} uses only the types of domain: write "import type".`;
}
