import { callPlatform } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { formBody, type PlatformRequest } from "#src/http/platform-request.ts";
import type { Refused, Unavailable } from "./connector.ts";

/**
 * The result of connecting an account when the entered credentials lack a value or contain a value of the wrong type.
 */
export const INCOMPLETE: Refused = { kind: "refused", message: "the credentials are incomplete" };

export function unavailable(message: string): Unavailable {
  return { kind: "unavailable", message };
}

/**
 * Sends one authorization request to a platform. A request without an answer is reported as unavailable, because a
 * missing answer does not show whether the credential is valid.
 */
export async function askPlatform(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const answer = await callPlatform(call, signal);
  return answer.kind === "answer" ? answer : unavailable(answer.message);
}

type Fields = Readonly<Record<string, string>>;

/**
 * Fields of a token request whose values are public. The values of all other fields are secret and are redacted in
 * answers.
 */
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

/** Creates a POST request to a token endpoint, with its fields as a form. */
export function postToTokenEndpoint(url: string, fields: Fields): PlatformRequest {
  const secrets = secretsIn(fields);
  return { method: "POST", url, body: formBody(fields), secrets, returnsTokens: true };
}

/** Creates a GET request to a token endpoint that takes its fields in the query. */
export function getFromTokenEndpoint(url: string, fields: Fields): PlatformRequest {
  const query = new URLSearchParams(fields).toString();
  return { method: "GET", url: `${url}?${query}`, secrets: secretsIn(fields), returnsTokens: true };
}
