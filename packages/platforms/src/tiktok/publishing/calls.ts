import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { type JsonObject, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, type PlatformRequest } from "#src/http/platform-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** The account in whose name TikTok is called, and the URL of TikTok's API. */
export interface TiktokAccess {
  readonly baseUrl: string;
  readonly account: AccountAccess;
}

/** Creates a request to TikTok's API; its body is always JSON. */
export function toRequest(
  { baseUrl, account }: TiktokAccess,
  path: string,
  body: unknown,
): PlatformRequest {
  return {
    method: "POST",
    url: `${baseUrl}/v2/${path}`,
    headers: bearer(account.accessToken),
    body: {
      contentType: "application/json; charset=UTF-8",
      content: JSON.stringify(body),
    },
  };
}

/** Makes a TikTok call that does not publish anything. */
export async function ask(
  access: TiktokAccess,
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  return await callPlatform(toRequest(access, path, body), signal);
}

/**
 * Returns the error code in an answer of TikTok, `ok` for a success. TikTok also reports errors in answers with HTTP
 * 200.
 */
export function codeOf({ json }: PlatformAnswer): string | undefined {
  return text(object(json, "error"), "code");
}

/** Returns the data in a successful answer of TikTok, else undefined. */
export function dataOf(answer: PlatformAnswer | NoAnswer): JsonObject | undefined {
  if (answer.kind !== "answer" || answer.status !== 200 || codeOf(answer) !== "ok")
    return undefined;
  return object(answer.json, "data");
}
