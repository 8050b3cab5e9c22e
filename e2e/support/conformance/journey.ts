import type { JourneyAnswer, Session } from "./session.ts";
import type { World } from "./world.ts";

/** A sequence of requests in which ids of one answer are used in the next requests. */
export type Journey = (session: Session, world: World) => Promise<void>;

export function idOf({ body }: Pick<JourneyAnswer, "body">): string {
  return String(body["id"]);
}
