import { createFacebookPublishingConnector } from "@postrider/platforms/facebook/publishing/connector";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Stage } from "./stage.ts";

/**
 * Changes the Facebook connector so that one call creates a post and makes it visible. Then only a
 * search of the Page shows how the call ended.
 */
export function onePhase(connector: PublishingConnector, on: Stage): PublishingConnector {
  if (connector.platform !== "facebook") return connector;
  return createFacebookPublishingConnector({ ...on.config.facebook, isTwoPhase: false });
}
