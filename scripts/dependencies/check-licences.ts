import type { FoundPackage } from "./find-packages.ts";

/** Licences under which anybody may use, change and pass on our product together with the package. */
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

/** Packages that may be under another licence, and why. */
const EXCEPTIONS: readonly {
  readonly name: RegExp;
  readonly licence: string;
  readonly why: string;
}[] = [
  {
    name: /^@img\/sharp-libvips-/,
    licence: "LGPL-3.0-or-later",
    why: "a library in a file of its own, which is loaded and can be replaced",
  },
];

/**
 * Whether an SPDX expression leaves us a licence that we may use. An expression with brackets inside is not read, and
 * thereby not allowed.
 */
export function isAllowed(licence: string): boolean {
  const inside = /^\(([^()]*)\)$/.exec(licence)?.[1] ?? licence;
  return inside
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((part) => ALLOWED.has(part.trim())));
}

/** The packages under a licence that nobody has agreed to, one line each. */
export function findForbidden(packages: readonly FoundPackage[]): readonly string[] {
  return packages
    .filter(({ name, licence }) => {
      const isException = EXCEPTIONS.some((one) => one.name.test(name) && one.licence === licence);
      return !isException && !isAllowed(licence);
    })
    .map(({ name, version, licence }) => `${name}@${version}: ${licence || "no licence"}`);
}
