import { createFacebookPublishingConnector } from "@postrider/platforms/facebook/publishing/connector";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Stage } from "./stage.ts";

/** Posts that are visible at once: nothing but reading the Page back tells what became of a call. */
export function onePhase(connector: PublishingConnector, on: Stage): PublishingConnector {
  if (connector.platform !== "facebook") return connector;
  return createFacebookPublishingConnector({ ...on.config.facebook, isTwoPhase: false });
}
