import type { DiagnosticCheck } from "@postrider/shared/diagnostics/finding";
import { callPlatform } from "#src/http/call-platform.ts";
import {
  describeStatus,
  type JsonObject,
  object,
  type PlatformAnswer,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import type { PlatformRequest } from "#src/http/platform-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export type AccountChecks = (account: AccountAccess) => readonly DiagnosticCheck[];

export const CONNECT_AGAIN =
  "connect the account again; if that does not help, look into the platform's guide";

function messageOf({ json }: PlatformAnswer): string {
  const error = object(json, "error");
  const message =
    text(error, "message") ??
    text(json, "message") ??
    text(json, "description") ??
    text(json, "detail") ??
    text(json, "title");
  return message === undefined || message === "" ? "" : `: ${shorten(message)}`;
}

export async function readAccount(
  platform: string,
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer & { readonly json: JsonObject }> {
  const answer = await callPlatform(call, signal);
  if (answer.kind === "no_answer")
    throw new Error(`${platform} does not answer: ${answer.message}`);
  const { json } = answer;
  if (answer.status !== 200 || json === undefined)
    throw new Error(`${platform} refused the call (${describeStatus(answer)})${messageOf(answer)}`);
  return { ...answer, json };
}
