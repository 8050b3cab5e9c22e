import { isBlueskysHost } from "#src/bluesky/find-repository.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { text } from "#src/http/platform-answer.ts";
import { bearer, jsonBody, type PlatformRequest } from "#src/http/platform-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export const COLLECTION = "app.bsky.feed.post";

export function toPermalink({ externalId }: AccountAccess, rkey: string): string {
  return `https://bsky.app/profile/${externalId}/post/${rkey}`;
}

export function hostOf(baseUrl: string, account: AccountAccess): string {
  return account.attributes.pdsUrl ?? baseUrl;
}

export function isForeign({ attributes }: AccountAccess): boolean {
  return attributes.pdsUrl !== undefined;
}

/** The DID document of an account of `bsky.social` names one of Bluesky's own servers. */
export function isOwnersHost({ attributes: { pdsUrl } }: AccountAccess): boolean {
  return pdsUrl !== undefined && !isBlueskysHost(pdsUrl);
}

export function toRequest(
  baseUrl: string,
  account: AccountAccess,
  method: string,
  body: unknown,
): PlatformRequest {
  return {
    method: "POST",
    url: `${hostOf(baseUrl, account)}/xrpc/${method}`,
    isForeign: isForeign(account),
    headers: bearer(account.accessToken),
    body: jsonBody(body),
  };
}

/** Only Postrider knows the record key, so a record that exists is ours. */
export async function lookForRecord(
  baseUrl: string,
  account: AccountAccess,
  rkey: string,
  signal: AbortSignal,
): Promise<"present" | "gone" | "unreadable"> {
  const query = new URLSearchParams({ repo: account.externalId, collection: COLLECTION, rkey });
  const url = `${hostOf(baseUrl, account)}/xrpc/com.atproto.repo.getRecord?${query.toString()}`;
  const call = { method: "GET", url, isForeign: isForeign(account) } as const;
  const answer = await callPlatform(call, signal);
  if (answer.kind === "no_answer") return "unreadable";
  if (answer.status === 200 && text(answer.json, "uri") !== undefined) return "present";
  return text(answer.json, "error") === "RecordNotFound" ? "gone" : "unreadable";
}
