import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readServeSettings } from "../../packages/serve/src/config.ts";
import { describeSettings } from "../../packages/shared/src/config.ts";
import { readMigrationSettings } from "../../packages/shared/src/process/service.ts";
import { settings as simulatorSettings } from "../../packages/simulator/src/config.ts";
import { SERVICES, settingsOf } from "../services/settings.ts";
import { formatReference } from "./table.ts";

const DOCUMENT = join(import.meta.dirname, "../../docs/configuration.md");
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

export function isDocumentCurrent(): boolean {
  const committed = readFileSync(DOCUMENT, "utf8");
  return renderDocument(committed) === committed;
}

export function writeDocument(): void {
  writeFileSync(DOCUMENT, renderDocument(readFileSync(DOCUMENT, "utf8")));
}
