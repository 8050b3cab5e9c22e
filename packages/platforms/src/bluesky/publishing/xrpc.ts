import { isBlueskysHost } from "#src/bluesky/hosts.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { text } from "#src/http/platform-answer.ts";
import { bearer, jsonBody, type PlatformRequest } from "#src/http/platform-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export const COLLECTION = "app.bsky.feed.post";

/**
 * Returns the link to a Bluesky post. The link contains the account's DID, which stays the same when the account's
 * handle changes.
 */
export function toPermalink({ externalId }: AccountAccess, rkey: string): string {
  return `https://bsky.app/profile/${externalId}/post/${rkey}`;
}

export function hostOf(baseUrl: string, account: AccountAccess): string {
  return account.attributes.pdsUrl ?? baseUrl;
}

/** Whether the account's owner chose the host of the account's Bluesky repository, by means of the DID document. */
export function isForeign({ attributes }: AccountAccess): boolean {
  return attributes.pdsUrl !== undefined;
}

/**
 * Whether the account's repository is neither on the configured server nor on one of Bluesky's own servers, for example
 * `morel.us-east.host.bsky.network`. The DID document of an account of `bsky.social` names one of Bluesky's own
 * servers.
 */
export function isOwnersHost({ attributes: { pdsUrl } }: AccountAccess): boolean {
  return pdsUrl !== undefined && !isBlueskysHost(pdsUrl);
}

/** Creates a request to a procedure of Bluesky's XRPC API, in the name of the account. */
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

/**
 * Reads whether the record of a post exists on Bluesky. Only Postrider knows the record key, so a record that exists is
 * ours.
 */
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
