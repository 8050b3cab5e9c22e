import type { OutgoingBody } from "./outgoing-body.ts";
import type { RequestBody } from "./request-body.ts";

/** One call of a platform. */
export interface PlatformRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** True when the account's owner chose the host; the connection is then allowed to public addresses only. */
  readonly isForeign?: boolean;
  /** Values to redact in the answer, besides the credential in the `authorization` header. */
  readonly secrets?: readonly string[];
  /**
   * True for token endpoints, which may return the very token that was sent: a JSON string that consists of one secret
   * is kept, and a secret inside a longer text is redacted.
   */
  readonly returnsTokens?: boolean;
}

/** Secrets shorter than this are not redacted: they would match ordinary words. */
const MIN_SECRET_LENGTH = 8;

/** Returns the `authorization` header with an OAuth 2.0 access token. */
export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** The headers of a call, including those that its body needs. */
export function toHeaders(call: PlatformRequest, outgoing: OutgoingBody): Record<string, string> {
  return {
    accept: "application/json",
    "user-agent": "Postrider",
    ...call.headers,
    ...outgoing.headers,
  };
}

/** Replaces the secrets of the call in its answer: a platform may quote them in a message, which is stored and shown. */
export function redact(answer: string, call: PlatformRequest): string {
  const { headers, secrets = [], returnsTokens = false } = call;
  const [, credential = ""] = (headers?.authorization ?? "").split(" ");
  let redacted = answer;
  for (const secret of [credential, ...secrets]) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    redacted = redacted.replaceAll(secret, (_match, start: number, whole: string) =>
      returnsTokens && isWholeString(whole, start, secret.length) ? secret : "***",
    );
  }
  return redacted;
}

function isWholeString(json: string, start: number, length: number): boolean {
  return json.charAt(start - 1) === '"' && json.charAt(start + length) === '"';
}
