import { globSync } from "node:fs";
import { posix, resolve } from "node:path";

const SOURCE = "packages/platforms/src/";

/** The folders of packages/platforms that hold everything about one network. */
const NETWORKS = new Set(
  globSync("*/platform.ts", { cwd: resolve(import.meta.dirname, "..", SOURCE) }).map((file) =>
    posix.dirname(file),
  ),
);

/** The lists of all networks, with the files that each imports from the folder of a network. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  "registry.ts": ["facts.ts"],
  "platforms.ts": ["platform.ts"],
  "authorizations.ts": ["authorization.ts", "environment.ts", "available.ts"],
};

/**
 * Returns why an import reaches into the folder of a network, or undefined when the import is
 * allowed.
 */
export function networkFault(edge: {
  readonly file: string;
  readonly specifier: string;
}): string | undefined {
  if (!edge.file.startsWith(SOURCE)) return undefined;
  const path = edge.file.slice(SOURCE.length);
  const target = edge.specifier.startsWith("#src/")
    ? edge.specifier.slice("#src/".length)
    : posix.join(posix.dirname(path), edge.specifier);
  const [network = "", file] = target.split("/");
  if (!NETWORKS.has(network) || path.startsWith(`${network}/`)) return undefined;
  if (file !== undefined && LISTS[path]?.includes(file) === true) return undefined;
  return `Only files of ${network}/ import from ${network}/: pass in what the shared code needs, or add a member to Platform.`;
}
