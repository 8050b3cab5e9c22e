import { callPlatform } from "#src/http/call-platform.ts";
import { type JsonObject, maxListBytes } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { reasonOf, toStepFailure } from "../publishing/failures.ts";

export type YoutubeRead =
  | { readonly kind: "result"; readonly json: JsonObject }
  | { readonly kind: "failed"; readonly reason: string; readonly failure: Failure };

export const PAGE_SIZE = 50;
/** YouTube repeats the text of a comment in two fields, and accepts 10,000 characters. */
const MAX_LIST_BYTES = maxListBytes(PAGE_SIZE, 2 * 10_000);

export async function readYoutube(
  baseUrl: string,
  { accessToken }: AccountAccess,
  { path, query }: { readonly path: string; readonly query: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<YoutubeRead> {
  const url = `${baseUrl}/youtube/v3/${path}?${new URLSearchParams(query).toString()}`;
  const answer = await callPlatform(
    { method: "GET", url, headers: bearer(accessToken), maxAnswerBytes: MAX_LIST_BYTES },
    signal,
  );
  if (answer.kind === "no_answer")
    return { kind: "failed", reason: "", failure: platformUnavailable(answer.message) };
  if (answer.status === 200 && answer.json !== undefined)
    return { kind: "result", json: answer.json };
  return { kind: "failed", reason: reasonOf(answer), failure: toStepFailure(answer) };
}
