import { callPlatform } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { formBody, type PlatformRequest } from "#src/http/platform-request.ts";
import type { Refused, Unavailable } from "./connector.ts";

export const INCOMPLETE: Refused = { kind: "refused", message: "the credentials are incomplete" };

export function unavailable(message: string): Unavailable {
  return { kind: "unavailable", message };
}

/** A missing answer does not show whether the credential is valid, so it counts as unavailable. */
export async function askPlatform(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const answer = await callPlatform(call, signal);
  return answer.kind === "answer" ? answer : unavailable(answer.message);
}

type Fields = Readonly<Record<string, string>>;

const PUBLIC_FIELDS = new Set([
  "client_id",
  "client_key",
  "grant_type",
  "redirect_uri",
  "token_type_hint",
]);

function secretsIn(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => (PUBLIC_FIELDS.has(name) ? [] : value));
}

export function postToTokenEndpoint(url: string, fields: Fields): PlatformRequest {
  const secrets = secretsIn(fields);
  return { method: "POST", url, body: formBody(fields), secrets, returnsTokens: true };
}

export function getFromTokenEndpoint(url: string, fields: Fields): PlatformRequest {
  const query = new URLSearchParams(fields).toString();
  return { method: "GET", url: `${url}?${query}`, secrets: secretsIn(fields), returnsTokens: true };
}
