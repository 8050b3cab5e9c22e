import { parseArgs } from "node:util";
import { areCallersCurrent, writeCallers } from "./rpc-callers/document.ts";

/** Processes whose code contains a call; `--check` only reports whether the list is up to date. */
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
if (!values.check) await writeCallers();
else if (!(await areCallersCurrent())) {
  process.stderr.write(
    'packages/contracts/src/rpc-callers.ts differs from what the code calls: run "npm run generate", read the difference as a change of permissions, and commit it.\n',
  );
  process.exitCode = 1;
}
