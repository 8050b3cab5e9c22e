import { inClientSpan } from "@postrider/shared/http/client-span";
import { createPublicConnector } from "@postrider/shared/http/public-connector";
import { Agent, request } from "undici";
import type { Unavailable } from "./connector.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** A platform's answer. `json` is undefined when the body is no JSON object. */
export interface PlatformAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly json: JsonObject | undefined;
}

export interface PlatformRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly authorization?: string;
  /** The account's owner can name the host: only public addresses are connected to. */
  readonly isForeign?: boolean;
  /** Sent as JSON. */
  readonly body?: JsonObject;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const LIMITS = {
  connections: 16,
  headersTimeout: 30_000,
  bodyTimeout: 30_000,
  // No answer of these APIs comes near it; more is a broken or hostile host.
  maxResponseSize: 1024 * 1024,
};
const agent = new Agent({ ...LIMITS, connectTimeout: CONNECT_TIMEOUT_MS });
const publicAgent = new Agent({
  ...LIMITS,
  connect: createPublicConnector({ connectMs: CONNECT_TIMEOUT_MS }),
});

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function encode(call: PlatformRequest): {
  readonly headers: Record<string, string>;
  readonly body: string | null;
} {
  const headers: Record<string, string> = { accept: "application/json", "user-agent": "Postrider" };
  if (call.authorization !== undefined) headers.authorization = call.authorization;
  if (call.body !== undefined) {
    headers["content-type"] = "application/json";
    return { headers, body: JSON.stringify(call.body) };
  }
  if (call.form === undefined) return { headers, body: null };
  headers["content-type"] = "application/x-www-form-urlencoded";
  return { headers, body: new URLSearchParams(call.form).toString() };
}

/** Calls a platform once. Nothing that a network failure says is passed on: it may hold an address with a token in it. */
export async function callPlatform(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  return await inClientSpan(call, () => send(call, signal));
}

async function send(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const { method } = call;
  try {
    const dispatcher = call.isForeign === true ? publicAgent : agent;
    const answer = await request(call.url, { method, ...encode(call), signal, dispatcher });
    return {
      kind: "answer",
      status: answer.statusCode,
      json: parseObject(await answer.body.text()),
    };
  } catch {
    return unavailable(signal.aborted ? "no answer in time" : "no connection");
  }
}

export function unavailable(message: string): Unavailable {
  return { kind: "unavailable", message };
}

/** A property that is a string with something in it, or undefined. */
export function text(value: unknown, name: string): string | undefined {
  const found = isObject(value) ? value[name] : undefined;
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** A property that is an object, or undefined. */
export function object(value: unknown, name: string): JsonObject | undefined {
  const found = isObject(value) ? value[name] : undefined;
  return isObject(found) ? found : undefined;
}

/** A property that is a list, or an empty one. */
export function list(value: unknown, name: string): readonly unknown[] {
  const found = isObject(value) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}
