import { parseArgs } from "node:util";
import {
  areOperationsCurrent,
  writeOperations,
  writeTypes,
} from "./client-types/generated-files.ts";

/**
 * Writes the generated part of `packages/client` from the API description: the types, and the table of operations, which is
 * committed. With `--types`, writes only the types, and nothing if they are up to date. With `--check`, only reports whether the
 * committed table is up to date.
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
