import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { RouteDependencies } from "#src/operations/dependencies.ts";
import { createObjectRoutes } from "#src/routes/objects.ts";
import { createUploadRoutes } from "#src/routes/uploads.ts";

/**
 * Maximum number of concurrent uploads; a further one is refused. The same maximum applies separately to downloads and to reads
 * by the delivery service.
 */
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
  // The delivery service has permits of its own for reading files, so that clients that download files from published
  // addresses never hinder publishing.
  const permitsOf = (caller: string) => (caller === "delivery" ? published : sent);
  const objects = createObjectRoutes({ ...deps, permitsOf });
  return (app) => {
    uploads(app);
    objects(app);
  };
}
