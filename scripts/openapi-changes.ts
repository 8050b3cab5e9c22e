import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listBreakingChanges } from "./openapi-changes/compare.ts";
import type { Description } from "./openapi-changes/document.ts";

/**
 * Reports changes of the committed API description that break clients of the last release. At each release, a maintainer
 * copies `openapi.json` to `openapi.released.json`.
 */
const FOLDER = join(import.meta.dirname, "../services/gateway");
const read = (name: string) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as Description;

const changes = listBreakingChanges(read("openapi.released.json"), read("openapi.json"));
if (changes.length > 0) {
  process.stderr.write(
    `services/gateway/openapi.json breaks clients of the last release (docs/api/versioning.md):\n${changes.map((change) => `  ${change}`).join("\n")}\n`,
  );
  process.exitCode = 1;
}
