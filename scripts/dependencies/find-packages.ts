import { existsSync, globSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

export interface FoundPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX; empty if package.json names no licence. */
  readonly licence: string;
  /** `name@version`, direct and sorted. */
  readonly needs: readonly string[];
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The folders of the packages that are shipped; `bench` and `e2e` are not. */
const OURS = "{services,packages}/*";

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function licenceOf({ license, licenses }: Manifest): string {
  if (typeof license === "string") return license;
  const types = license === undefined ? licenses?.map(({ type }) => type) : [license.type];
  return types?.filter((type) => type !== undefined).join(" OR ") ?? "";
}

/** Inside a workspace package, beside every other one. */
function neighboursOf(folder: string, name: string, isOurs: boolean): string {
  if (isOurs) return join(folder, "node_modules");
  return name.startsWith("@") ? dirname(dirname(folder)) : dirname(folder);
}

/** Optional dependencies, and those for other machines, may be missing. */
function needsOf(folder: string, manifest: Manifest, isOurs: boolean): readonly string[] {
  const { name = "", dependencies = {}, optionalDependencies = {} } = manifest;
  const optional = { ...optionalDependencies, ...(isOurs ? {} : manifest.peerDependencies) };
  const neighbours = neighboursOf(folder, name, isOurs);
  return Object.keys({ ...dependencies, ...optional }).flatMap((need) => {
    const found = join(neighbours, need);
    if (existsSync(found)) return [realpathSync(found)];
    if (need in optional) return [];
    throw new Error(
      `${name || folder} needs ${need}, which is not installed: run \`pnpm install\``,
    );
  });
}

/** Direct and indirect ones of production: each version once, sorted. */
export function findPackages(root: string): readonly FoundPackage[] {
  const ours = globSync(`${OURS}/package.json`, { cwd: root }).map((file) =>
    realpathSync(join(root, dirname(file))),
  );
  const isOurs = new Set(ours);
  const seen = new Set<string>();
  const found = new Map<string, FoundPackage>();
  const waiting = [...ours];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (seen.has(folder)) continue;
    seen.add(folder);
    const manifest = readManifest(folder);
    const needs = needsOf(folder, manifest, isOurs.has(folder));
    waiting.push(...needs);
    if (!isOurs.has(folder)) add(found, manifest, needs);
  }
  return [...found.values()].toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** pnpm may have a folder for each set of peer dependencies; their dependencies are merged. */
function add(found: Map<string, FoundPackage>, manifest: Manifest, needs: readonly string[]): void {
  const { name = "", version = "" } = manifest;
  const key = keyOf({ name, version });
  const named = needs.map((folder) => nameOf(readManifest(folder)));
  const all = new Set([...(found.get(key)?.needs ?? []), ...named]);
  found.set(key, { name, version, licence: licenceOf(manifest), needs: [...all].toSorted() });
}

function nameOf({ name = "", version = "" }: Manifest): string {
  return keyOf({ name, version });
}

export function keyOf({ name, version }: Pick<FoundPackage, "name" | "version">): string {
  return `${name}@${version}`;
}
