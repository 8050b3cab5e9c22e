import { callPlatform } from "#src/http/call-platform.ts";
import { text } from "#src/http/platform-answer.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { findMentions } from "./facets.ts";
import { hostOf, isForeign } from "./xrpc.ts";

export async function resolveMentions(
  baseUrl: string,
  account: AccountAccess,
  content: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | Failure> {
  const dids = new Map<string, string>();
  for (const { handle } of findMentions(content)) {
    const host = hostOf(baseUrl, account);
    const url = `${host}/xrpc/com.atproto.identity.resolveHandle?handle=${encodeURIComponent(handle)}`;
    const answer = await callPlatform(
      { method: "GET", url, isForeign: isForeign(account) },
      signal,
    );
    if (answer.kind === "no_answer") return platformUnavailable(answer.message);
    const did = text(answer.json, "did");
    if (answer.status === 200 && did !== undefined) dids.set(handle, did);
  }
  return dids;
}
