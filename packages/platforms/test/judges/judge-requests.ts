import type { PlatformId } from "#src/platform-id.ts";
import { judgeBluesky } from "./judge-bluesky.ts";
import { judgeGraphApi } from "./judge-graph-api.ts";
import { judgeTelegram } from "./judge-telegram.ts";
import { judgeTiktok } from "./judge-tiktok.ts";
import { judgeX } from "./judge-x.ts";
import { judgeYoutube } from "./judge-youtube.ts";
import type { RecordedRequest } from "./recorded-request.ts";

type Judge = (requests: readonly RecordedRequest[]) => string[] | Promise<string[]>;

const JUDGES = {
  instagram: (requests) => judgeGraphApi("instagram", requests),
  x: judgeX,
  facebook: (requests) => judgeGraphApi("facebook", requests),
  tiktok: judgeTiktok,
  youtube: judgeYoutube,
  telegram: judgeTelegram,
  bluesky: judgeBluesky,
} satisfies Record<PlatformId, Judge>;

/**
 * Checks requests that connectors sent to a simulated platform against the types or schemas of the
 * platform's own client library. Returns a message for each request that the library could not
 * send.
 */
export async function judgeRequests(
  platform: PlatformId,
  requests: readonly RecordedRequest[],
): Promise<readonly string[]> {
  const judge: Judge = JUDGES[platform];
  return await judge(requests);
}
