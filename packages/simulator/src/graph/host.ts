import type { GraphTokens } from "#src/graph/tokens.ts";
import type { World } from "#src/world/world.ts";

/** What all endpoints of a platform that speaks the Graph API share. */
export interface GraphHost {
  readonly platform: "facebook" | "instagram";
  readonly world: World;
  readonly tokens: GraphTokens;
}
