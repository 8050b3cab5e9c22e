import type { JourneyAnswer, Session } from "./session.ts";
import type { Inhabited } from "./world.ts";

/** A sequence of requests in which ids of one answer are used in the next requests. */
export type Journey = (session: Session, world: JourneyWorld) => Promise<void>;

export interface JourneyWorld extends Pick<Inhabited, "tenant" | "accountIds" | "publication"> {
  /** An account on which only journeys (sequences of requests) publish, and no generated request. */
  readonly ownAccountId: string;
  readonly outsideUrl: string;
}

export function idOf({ body }: Pick<JourneyAnswer, "body">): string {
  return String(body["id"]);
}
