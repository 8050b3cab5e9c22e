import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import { createObjectRoutes } from "#src/routes/objects.ts";
import { createUploadRoutes, type UploadRouteDeps } from "#src/routes/uploads.ts";

/** What the service speaks beside its RPCs: bytes. */
export function createPlainRoutes(deps: UploadRouteDeps): PlainRoutes {
  const uploads = createUploadRoutes(deps);
  const objects = createObjectRoutes(deps);
  return (app) => {
    uploads(app);
    objects(app);
  };
}
