import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listBreakingChanges } from "./openapi-changes/compare.ts";
import type { Description } from "./openapi-changes/document.ts";
import { toReleased } from "./openapi-changes/released.ts";

/**
 * Reports changes of the committed API description that break clients of the last release. At each release, a maintainer runs
 * this with `--release`, which writes what the description promises to `openapi.released.json`.
 */
const FOLDER = join(import.meta.dirname, "../services/gateway");
const RELEASED = join(FOLDER, "openapi.released.json");
const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Description;

const { values } = parseArgs({ options: { release: { type: "boolean", default: false } } });
const current = read(join(FOLDER, "openapi.json"));
const changes = listBreakingChanges(read(RELEASED), current);
if (changes.length > 0) {
  process.stderr.write(
    `services/gateway/openapi.json breaks clients of the last release (docs/api/versioning.md):\n${changes.map((change) => `  ${change}`).join("\n")}\n`,
  );
  process.exitCode = 1;
} else if (values.release) writeFileSync(RELEASED, toReleased(current));
