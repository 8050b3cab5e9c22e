/**
 * Preloaded before a service's `src/main.ts` in watch mode (`node --import`): replaces the running stack's own
 * process of that service and gives the process in watch mode the same settings.
 */
import { basename } from "node:path";
import { takePlace } from "#src/commands/dev-place.ts";
import { environment } from "#src/config.ts";
import { reasonOf } from "#src/stack/database.ts";
import { serviceNames } from "#src/stack/services.ts";

const service = serviceNames.find((name) => name === basename(process.cwd()));
if (service === undefined) throw new Error(`${process.cwd()} is not a service`);

try {
  Object.assign(environment, await takePlace(service, environment));
} catch (error) {
  process.stderr.write(`postrider: ${reasonOf(error)}\n`);
  process.exit(1);
}
