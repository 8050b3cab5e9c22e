import { parseArgs } from "node:util";
import { isDocumentCurrent, writeDocument } from "./configuration/document.ts";

/**
 * Writes the reference of all settings into `docs/configuration.md`. With `--check` it only reports whether the file is
 * up to date.
 */
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
if (!values.check) writeDocument();
else if (!isDocumentCurrent()) {
  process.stderr.write(
    'docs/configuration.md differs from what the services read: run "npm run generate" and commit the result.\n',
  );
  process.exitCode = 1;
}
