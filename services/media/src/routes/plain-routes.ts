import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { RouteDependencies } from "#src/operations/dependencies.ts";
import { createObjectRoutes } from "#src/routes/objects.ts";
import { createUploadRoutes } from "#src/routes/uploads.ts";

/** Maximum number of uploads at the same time, and of downloads at the same time. */
const MAX_TRANSFERS = 256;

/** Creates the HTTP routes that transfer bytes of media, because RPCs cannot stream them. */
export function createPlainRoutes(
  deps: Omit<RouteDependencies, "permits">,
  maxTransfers: number = MAX_TRANSFERS,
): PlainRoutes {
  const limits = { total: maxTransfers };
  const uploads = createUploadRoutes({ ...deps, permits: new Semaphore(limits) });
  const objects = createObjectRoutes({ ...deps, permits: new Semaphore(limits) });
  return (app) => {
    uploads(app);
    objects(app);
  };
}
