import { parseArgs } from "node:util";
import { areTypesCurrent, writeTypes } from "./client-types/generated-files.ts";

/**
 * Writes the generated part of `packages/client` from the committed API description: the types and the table of operations.
 * With `--check`, only reports whether the committed files are up to date.
 */
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
if (!values.check) {
  await writeTypes();
} else if (!(await areTypesCurrent())) {
  process.stderr.write(
    'packages/client/gen differs from services/gateway/openapi.json: run "npm run generate" and commit the result.\n',
  );
  process.exitCode = 1;
}
