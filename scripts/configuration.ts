import { parseArgs } from "node:util";
import { isDocumentCurrent, writeDocument } from "./configuration/document.ts";

/** Writes `docs/configuration.md`; with `--check` it only reports whether it is up to date. */
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
if (!values.check) writeDocument();
else if (!isDocumentCurrent()) {
  process.stderr.write(
    'docs/configuration.md differs from what the services read: run "npm run generate" and commit the result.\n',
  );
  process.exitCode = 1;
}
