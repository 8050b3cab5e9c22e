import type { GraphApi } from "#src/graph/graph-call.ts";
import type { Publication, UnknownCall, Verdict } from "#src/publishing/connector.ts";
import { judgeTwins, lookAgain, LOOKS_AFTER_MS } from "#src/publishing/twins.ts";
import { listOwnMedia, listTwins } from "./own-media.ts";

/** Clock differences between us and Instagram, and seconds that it cuts. */
const BEFORE_CALL_MS = 60_000;

/** Looks through the account's own posts by caption and kind; the list may lag behind, so it is read several times. */
export async function findTwinMedia(
  api: GraphApi,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const since = new Date(call.calledAt.getTime() - BEFORE_CALL_MS);
  const entries = await listOwnMedia(api, publication, since, signal);
  if (entries === undefined) return lookAgain(call);
  return await judgeTwins(listTwins(publication, entries), publication, call, LOOKS_AFTER_MS);
}
