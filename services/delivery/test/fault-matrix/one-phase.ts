import { createFacebookConnector } from "@postrider/platforms/facebook/publishing/facebook";
import type { Connector } from "@postrider/platforms/publishing/connector";
import type { Stage } from "./stage.ts";

/** Posts that are visible at once: nothing but reading the Page back tells what became of a call. */
export function onePhase(connector: Connector, on: Stage): Connector {
  if (connector.platform !== "facebook") return connector;
  return createFacebookConnector({ ...on.config.facebook, isTwoPhase: false });
}
