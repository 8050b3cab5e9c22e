import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import type { RouteDependencies } from "#src/operations/dependencies.ts";
import { createObjectRoutes } from "#src/routes/objects.ts";
import { createUploadRoutes } from "#src/routes/uploads.ts";

/** Creates the HTTP routes that transfer bytes of media, because RPCs cannot stream them. */
export function createPlainRoutes(deps: RouteDependencies): PlainRoutes {
  const uploads = createUploadRoutes(deps);
  const objects = createObjectRoutes(deps);
  return (app) => {
    uploads(app);
    objects(app);
  };
}
