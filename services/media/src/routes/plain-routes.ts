import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { RouteDependencies } from "#src/operations/dependencies.ts";
import { createObjectRoutes } from "#src/routes/objects.ts";
import { createUploadRoutes } from "#src/routes/uploads.ts";

/** Maximum number of uploads at the same time, of downloads at the same time, and of reads by the delivery service. */
const MAX_TRANSFERS = 256;

/** Creates the HTTP routes that transfer bytes of media, because RPCs cannot stream them. */
export function createPlainRoutes(
  deps: RouteDependencies,
  maxTransfers: number = MAX_TRANSFERS,
): PlainRoutes {
  const [received, sent, published] = Array.from(
    { length: 3 },
    () => new Semaphore({ total: maxTransfers }),
  ) as [Semaphore, Semaphore, Semaphore];
  const uploads = createUploadRoutes({ ...deps, permits: received });
  // The delivery service has permits of its own, so that readers of published addresses never hinder publishing.
  const permitsOf = (caller: string) => (caller === "delivery" ? published : sent);
  const objects = createObjectRoutes({ ...deps, permitsOf });
  return (app) => {
    uploads(app);
    objects(app);
  };
}
