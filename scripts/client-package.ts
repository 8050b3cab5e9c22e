import { resolve } from "node:path";
import { packPackage } from "./client-package/pack-package.ts";

/**
 * Packs `packages/client` and `packages/mcp` as JavaScript with type declarations:
 * `npm run client-package [folder]` (default: the current one).
 */
const folder = resolve(process.argv[2] ?? ".");
for (const name of ["client", "mcp"] as const)
  process.stdout.write(`${packPackage(name, folder)}\n`);
