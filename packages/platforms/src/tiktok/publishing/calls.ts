import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { type JsonObject, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, type PlatformRequest } from "#src/http/platform-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export interface TiktokAccess {
  readonly baseUrl: string;
  readonly account: AccountAccess;
}

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

export async function ask(
  access: TiktokAccess,
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  return await callPlatform(toRequest(access, path, body), signal);
}

/** TikTok also reports errors in answers with HTTP 200; `ok` for a success. */
export function codeOf({ json }: PlatformAnswer): string | undefined {
  return text(object(json, "error"), "code");
}

export function dataOf(answer: PlatformAnswer | NoAnswer): JsonObject | undefined {
  if (answer.kind !== "answer" || answer.status !== 200 || codeOf(answer) !== "ok")
    return undefined;
  return object(answer.json, "data");
}
