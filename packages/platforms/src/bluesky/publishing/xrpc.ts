import { isBlueskysHost } from "#src/bluesky/find-repository.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import {
  describeStatus,
  type JsonObject,
  type PlatformAnswer,
  text,
} from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import { type ApiCall, ask, type Caller, type Site } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toFailure } from "./failures.ts";

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

/** The server of the account. */
export function toSite(baseUrl: string, account: AccountAccess): Site {
  const host = hostOf(baseUrl, account);
  return { baseUrl: `${host}/xrpc`, account, isForeign: isForeign(account) };
}

export function openBluesky(baseUrl: string) {
  return (account: AccountAccess, signal: AbortSignal): Caller => ({
    ...toSite(baseUrl, account),
    signal,
  });
}

export function toPost(method: string, body: unknown): ApiCall {
  return { method: "POST", path: method, body: jsonBody(body) };
}

/** Only Postrider knows the record key, so a record that exists is ours. */
export async function lookForRecord(
  bluesky: Caller,
  rkey: string,
): Promise<"present" | "gone" | "unreadable"> {
  const query = { repo: bluesky.account.externalId, collection: COLLECTION, rkey };
  const path = "com.atproto.repo.getRecord";
  const answer = await ask(bluesky, { path, query, isPublic: true });
  if (answer.kind === "no_answer") return "unreadable";
  if (answer.status === 200 && text(answer.json, "uri") !== undefined) return "present";
  return text(answer.json, "error") === "RecordNotFound" ? "gone" : "unreadable";
}

export type XrpcResult =
  | { readonly kind: "result"; readonly json: JsonObject }
  | { readonly kind: "failed"; readonly name: string; readonly failure: Failure };

export function toResult(answer: PlatformAnswer | NoAnswer): XrpcResult {
  if (answer.kind === "no_answer")
    return { kind: "failed", name: "", failure: platformUnavailable(answer.message) };
  if (answer.status === 200 && answer.json !== undefined)
    return { kind: "result", json: answer.json };
  const name = text(answer.json, "error") ?? "";
  const isParsedRefusal = name !== "" && answer.status >= 400 && answer.status < 500;
  const failure = isParsedRefusal
    ? toFailure(answer, name)
    : platformUnavailable(name === "" ? describeStatus(answer) : name);
  return { kind: "failed", name, failure };
}

export async function askBluesky(bluesky: Caller, call: ApiCall): Promise<XrpcResult> {
  return toResult(await ask(bluesky, call));
}
