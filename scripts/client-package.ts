import { resolve } from "node:path";
import { packPackage } from "./client-package/pack-package.ts";

/**
 * Builds `packages/client` and `packages/mcp` as plain JavaScript with types, and packs them: `node
 * scripts/client-package.ts [folder]`. The folder (default: the current one) gets the tarballs, which `npm install` and
 * `npm publish` take.
 */
const folder = resolve(process.argv[2] ?? ".");
for (const name of ["client", "mcp"] as const)
  process.stdout.write(`${packPackage(name, folder)}\n`);
