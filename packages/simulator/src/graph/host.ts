import type { GraphTokens } from "#src/graph/tokens.ts";
import type { World } from "#src/world/world.ts";

export interface GraphHost {
  readonly platform: "facebook" | "instagram";
  readonly world: World;
  readonly tokens: GraphTokens;
}
