import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toGraphRequest, type GraphApi, type GraphCall } from "./graph-request.ts";

export function callGraph(
  api: GraphApi,
  account: AccountAccess,
  call: GraphCall,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  return callPlatform(toGraphRequest(api, account, call), signal);
}
