import type { GraphTokens } from "#src/graph/tokens.ts";
import type { World } from "#src/world/world.ts";

/** State that all endpoints of one Graph API platform (Facebook or Instagram) share. */
export interface GraphHost {
  readonly platform: "facebook" | "instagram";
  readonly world: World;
  readonly tokens: GraphTokens;
}
