import { callPlatform, type NoAnswer, type PlatformRequest } from "#src/http/http.ts";
import { object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/connector.ts";

/** As whom TikTok is called, and where. */
export interface TiktokAccess {
  readonly baseUrl: string;
  readonly account: AccountAccess;
}

export type Data = Readonly<Record<string, unknown>>;

/** A call of the API; its body is always JSON. */
export function toRequest(
  { baseUrl, account }: TiktokAccess,
  path: string,
  body: unknown,
): PlatformRequest {
  return {
    method: "POST",
    url: `${baseUrl}/v2/${path}`,
    headers: { authorization: `Bearer ${account.accessToken}` },
    body: {
      contentType: "application/json; charset=UTF-8",
      content: JSON.stringify(body),
    },
  };
}

/** A call that makes nothing visible. */
export async function ask(
  access: TiktokAccess,
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  return await callPlatform(toRequest(access, path, body), signal);
}

/** `ok` where nothing is wrong; TikTok names errors in answers with 200 too. */
export function codeOf({ json }: PlatformAnswer): string | undefined {
  return text(object(json, "error"), "code");
}

/** What TikTok answered when it did what it was asked. */
export function dataOf(answer: PlatformAnswer | NoAnswer): Data | undefined {
  if (answer.kind !== "answer" || answer.status !== 200 || codeOf(answer) !== "ok")
    return undefined;
  return object(answer.json, "data");
}
