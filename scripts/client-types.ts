import { parseArgs } from "node:util";
import {
  areOperationsCurrent,
  writeOperations,
  writeTypes,
} from "./client-types/generated-files.ts";

/**
 * Writes the types of `packages/client` and its table of operations, which is committed. `--types`
 * writes only the types, unless they are up to date; `--check` only reports whether the table is.
 */
const { values } = parseArgs({
  options: {
    types: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});
if (values.check) {
  if (!areOperationsCurrent()) {
    process.stderr.write(
      'packages/client/gen/operations.ts differs from services/gateway/openapi.json: run "npm run generate" and commit the result.\n',
    );
    process.exitCode = 1;
  }
} else {
  if (!values.types) writeOperations();
  await writeTypes();
}
