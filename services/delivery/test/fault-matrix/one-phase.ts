import { createFacebookPublishingConnector } from "@postrider/platforms/facebook/publishing/connector";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Stage } from "./stage.ts";

/** Makes Facebook posts visible in one call, so that only a search of the Page shows how the call ended. */
export function onePhase(connector: PublishingConnector, on: Stage): PublishingConnector {
  if (connector.platform !== "facebook") return connector;
  return createFacebookPublishingConnector({ ...on.config.facebook, isTwoPhase: false });
}
