import type { FoundPackage } from "./find-packages.ts";

/** Licences that let every user run, change and redistribute Postrider together with the package. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
  "Zlib",
]);

/** Packages that may have a licence that is otherwise not allowed, with the reason. */
const EXCEPTIONS: readonly {
  readonly name: RegExp;
  readonly licence: string;
  readonly why: string;
}[] = [
  {
    name: /^@img\/sharp-libvips-/,
    licence: "LGPL-3.0-or-later",
    why: "a dynamically loaded library in its own file, which users can replace",
  },
  {
    name: /^libheif-js$/,
    licence: "LGPL-3.0",
    why: "a WebAssembly module in its own file, which users can replace",
  },
];

/**
 * Whether an SPDX expression offers an allowed licence. An expression with nested brackets is not parsed, and so is not
 * allowed.
 */
export function isAllowed(licence: string): boolean {
  const inside = /^\(([^()]*)\)$/.exec(licence)?.[1] ?? licence;
  return inside
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((part) => ALLOWED.has(part.trim())));
}

/** Returns one line for each package whose licence is not allowed. */
export function findForbidden(packages: readonly FoundPackage[]): readonly string[] {
  return packages
    .filter(({ name, licence }) => {
      const isException = EXCEPTIONS.some((one) => one.name.test(name) && one.licence === licence);
      return !isException && !isAllowed(licence);
    })
    .map(({ name, version, licence }) => `${name}@${version}: ${licence || "no licence"}`);
}
