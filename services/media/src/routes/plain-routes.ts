import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { RouteDependencies } from "#src/operations/dependencies.ts";
import { createObjectRoutes } from "#src/routes/objects.ts";
import { createUploadRoutes } from "#src/routes/uploads.ts";

/**
 * Further uploads are refused. The same maximum applies separately to downloads and to reads by
 * delivery.
 */
const MAX_TRANSFERS = 256;

/** RPCs cannot stream bytes. */
export function createPlainRoutes(
  deps: RouteDependencies,
  maxTransfers: number = MAX_TRANSFERS,
): PlainRoutes {
  const [received, sent, published] = Array.from(
    { length: 3 },
    () => new Semaphore({ total: maxTransfers }),
  ) as [Semaphore, Semaphore, Semaphore];
  const uploads = createUploadRoutes({ ...deps, permits: received });
  // Permits of its own, so that clients that download files never hinder publishing.
  const permitsOf = (caller: string) => (caller === "delivery" ? published : sent);
  const objects = createObjectRoutes({ ...deps, permitsOf });
  return (app) => {
    uploads(app);
    objects(app);
  };
}
