import type { NoAnswer } from "#src/http/call-platform.ts";
import { type JsonObject, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { type ApiCall, ask, type Caller } from "#src/publishing/caller.ts";

export function toTiktokPost(path: string, body: unknown): ApiCall {
  const contentType = "application/json; charset=UTF-8";
  const content = JSON.stringify(body);
  return { method: "POST", path: `v2/${path}`, body: { contentType, content } };
}

export function askTiktok(
  tiktok: Caller,
  path: string,
  body: unknown,
): Promise<PlatformAnswer | NoAnswer> {
  return ask(tiktok, toTiktokPost(path, body));
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
