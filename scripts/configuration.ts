import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readServeSettings } from "../packages/serve/src/config.ts";
import { describeSettings } from "../packages/shared/src/config.ts";
import { readMigrationSettings } from "../packages/shared/src/process/service.ts";
import { settings as simulatorSettings } from "../packages/simulator/src/config.ts";
import { formatReference } from "./configuration/table.ts";
import { SERVICES, settingsOf } from "./services/settings.ts";

const DOCUMENT = join(import.meta.dirname, "../docs/configuration.md");
const BEGIN = "<!-- settings: written by `npm run generate` -->";
const END = "<!-- end of the settings -->";

function renderDocument(committed: string): string {
  const [before, rest] = committed.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`${DOCUMENT} lacks the lines between which the tables go: ${BEGIN} and ${END}`);
  const services = SERVICES.map((process) => ({ process, settings: settingsOf(process) }));
  const tables = formatReference(services, [
    { process: "serve", settings: describeSettings(readServeSettings) },
    { process: "migrations", settings: describeSettings(readMigrationSettings) },
    { process: "simulator", settings: simulatorSettings },
  ]);
  return `${before}${BEGIN}\n\n${tables}\n\n${END}${after}`;
}

function isDocumentCurrent(): boolean {
  const committed = readFileSync(DOCUMENT, "utf8");
  return renderDocument(committed) === committed;
}

function writeDocument(): void {
  writeFileSync(DOCUMENT, renderDocument(readFileSync(DOCUMENT, "utf8")));
}

/** Writes `docs/configuration.md`; with `--check` it only reports whether it is up to date. */
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
if (!values.check) writeDocument();
else if (!isDocumentCurrent()) {
  process.stderr.write(
    'docs/configuration.md differs from what the services read: run "npm run generate" and commit the result.\n',
  );
  process.exitCode = 1;
}
