import { resolve } from "node:path";
import { packClient } from "./client-package/pack-client.ts";

/**
 * Builds `packages/client` as plain JavaScript with types, and packs it: `node scripts/client-package.ts [folder]`. The
 * folder (default: the current one) gets the tarball, which `npm install` and `npm publish` take.
 */
const tarball = packClient(resolve(process.argv[2] ?? "."));
process.stdout.write(`${tarball}\n`);
