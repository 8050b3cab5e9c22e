import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeSettings } from "../../packages/shared/src/config.ts";
import { settings as simulatorSettings } from "../../packages/simulator/src/config.ts";
import { readSettings as readAccounts } from "../../services/accounts/src/config.ts";
import { readSettings as readDelivery } from "../../services/delivery/src/config.ts";
import { readSettings as readGateway } from "../../services/gateway/src/config.ts";
import { readSettings as readMedia } from "../../services/media/src/config.ts";
import { readSettings as readPosts } from "../../services/posts/src/config.ts";
import { formatReference } from "./table.ts";

const DOCUMENT = join(import.meta.dirname, "../../docs/configuration.md");
const BEGIN = "<!-- settings: written by `npm run generate` -->";
const END = "<!-- end of the settings -->";

/** The document as it has to be, with the tables made from what the processes read. */
function renderDocument(committed: string): string {
  const [before, rest] = committed.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`${DOCUMENT} lacks the lines ${BEGIN} and ${END}`);
  const services = Object.entries({
    gateway: readGateway,
    accounts: readAccounts,
    posts: readPosts,
    media: readMedia,
    delivery: readDelivery,
  }).map(([process, read]) => ({ process, settings: describeSettings(read) }));
  const tables = formatReference(services, [{ process: "simulator", settings: simulatorSettings }]);
  return `${before}${BEGIN}\n\n${tables}\n\n${END}${after}`;
}

/** Whether the document says what the processes read. */
export function isDocumentCurrent(): boolean {
  const committed = readFileSync(DOCUMENT, "utf8");
  return renderDocument(committed) === committed;
}

/** Writes the tables into the document. */
export function writeDocument(): void {
  writeFileSync(DOCUMENT, renderDocument(readFileSync(DOCUMENT, "utf8")));
}
