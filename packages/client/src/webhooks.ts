import type { webhooks } from "../gen/openapi.ts";

interface Verifier {
  readonly version: "v1" | "v1a";
  readonly verify: (
    signature: Uint8Array<ArrayBuffer>,
    content: Uint8Array<ArrayBuffer>,
  ) => Promise<boolean>;
}

const HMAC = { name: "HMAC", hash: "SHA-256" };
const ED25519 = "Ed25519";
const ED25519_KEY_BYTES = 32;

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function importKey(kind: string, bytes: Uint8Array<ArrayBuffer>) {
  const algorithm = kind === "whsec" ? HMAC : ED25519;
  return crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
}

/** `whsec_` precedes an HMAC key, `whpk_` an Ed25519 public key; undefined for other texts. */
async function createVerifier(secret: string): Promise<Verifier | undefined> {
  const [, kind = "", encoded = ""] = /^(whsec|whpk)_(.+)$/.exec(secret.trim()) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes === undefined || bytes.length === 0) return undefined;
  if (kind === "whpk" && bytes.length !== ED25519_KEY_BYTES) return undefined;
  const key = await importKey(kind, bytes);
  return {
    version: kind === "whsec" ? "v1" : "v1a",
    // WebCrypto compares HMAC signatures in constant time.
    verify: (signature, content) => crypto.subtle.verify(key.algorithm, key, signature, content),
  };
}

async function hasSignature(
  header: string,
  { version, verify }: Verifier,
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const part of header.split(" ")) {
    const comma = part.indexOf(",");
    const signature =
      part.slice(0, comma) === version ? fromBase64(part.slice(comma + 1)) : undefined;
    if (signature !== undefined && (await verify(signature, content))) return true;
  }
  return false;
}

/** An event that Postrider sends to webhook subscriptions. Its `type` tells what is in `data`. */
export type WebhookEvent = {
  [Type in keyof webhooks]: webhooks[Type]["post"]["requestBody"]["content"]["application/json"];
}[keyof webhooks];

/** More types can follow. */
export type WebhookEventType = WebhookEvent["type"];

export type WebhookEventOf<Type extends WebhookEventType> = Extract<
  WebhookEvent,
  { readonly type: Type }
>;

export type WebhookFault =
  | "missing_header"
  | "wrong_time"
  | "wrong_signature"
  | "unknown_secret"
  | "invalid_body";

/** No event with a recent signature by one of the secrets. Answer the request with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly code: WebhookFault;

  constructor(code: WebhookFault, message: string) {
    super(message);
    this.code = code;
  }
}

/** `Headers`, or an object as Node's `request.headers`. */
type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** Maximum difference between the time of the attempt and now, in seconds. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  /** In milliseconds since 1970. Default: the time of this computer's clock. */
  readonly now?: number | undefined;
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookVerificationError("missing_header", `the header ${name} is missing`);
}

function checkTime(timestamp: string, { toleranceSeconds = 300, now = Date.now() }: VerifyOptions) {
  const ageSeconds = now / 1000 - Number(timestamp);
  if (/^\d+$/.test(timestamp) && Math.abs(ageSeconds) <= toleranceSeconds) return;
  throw new WebhookVerificationError(
    "wrong_time",
    `the time of the attempt (${timestamp}) is not within ${toleranceSeconds} s of the clock`,
  );
}

function signedContent(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  return content;
}

function parseEvent(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError("invalid_body", "the signed body is not valid JSON");
  }
}

async function hasValidSignature(
  secrets: readonly string[],
  header: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const secret of secrets) {
    const verifier = await createVerifier(secret);
    if (verifier === undefined)
      throw new WebhookVerificationError(
        "unknown_secret",
        "a secret must be the `secret` (whsec_…) or the `publicKey` (whpk_…) of a subscription",
      );
    if (await hasSignature(header, verifier, content)) return true;
  }
  return false;
}

/**
 * Verifies that Postrider sent a request, and returns its event.
 *
 * @param body The body as it arrived, as text or bytes. JSON that was parsed and written again has
 *   another signature.
 * @param secrets The `secret` of a subscription or, with Ed25519, its `publicKey`; several during a
 *   rotation.
 * @throws WebhookVerificationError The request must not be trusted.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signatures = readHeader(headers, "webhook-signature");
  checkTime(timestamp, options);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const content = signedContent(id, timestamp, bytes);
  if (
    !(await hasValidSignature(
      typeof secrets === "string" ? [secrets] : secrets,
      signatures,
      content,
    ))
  )
    throw new WebhookVerificationError("wrong_signature", "no signature fits the secret");
  return parseEvent(bytes);
}
