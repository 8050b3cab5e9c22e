import { createFacebookConnector } from "#src/connectors/facebook/facebook.ts";
import type { Connector } from "#src/domain/connector.ts";
import type { Stage } from "./stage.ts";

/** Posts that are visible at once: nothing but reading the Page back tells what became of a call. */
export function onePhase(connector: Connector, on: Stage): Connector {
  if (connector.platform !== "facebook") return connector;
  return createFacebookConnector({ ...on.config.facebook, isTwoPhase: false });
}
