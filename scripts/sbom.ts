import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findPackages } from "./dependencies/find-packages.ts";
import { toSbom } from "./dependencies/to-sbom.ts";

const root = join(import.meta.dirname, "..");

/**
 * Writes the bill of materials of all shipped packages to standard output:
 * `npm run -s sbom > sbom.json`.
 */
const product = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly name: string;
  readonly version: string;
  readonly license: string;
};
const sbom = toSbom({ ...product, licence: product.license }, findPackages(root));
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
