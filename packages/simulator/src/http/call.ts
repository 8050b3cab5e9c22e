import type { IncomingHttpHeaders } from "node:http";
import type { FetchedFiles } from "#src/http/fetch-media.ts";

export interface Call {
  readonly method: string;
  /** Without the query and without the platform's prefix in the simulator. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly baseUrl: string;
}

export interface Moment {
  readonly now: number;
  readonly asOf: number;
  readonly fetched: FetchedFiles;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as HTML, every other value as JSON. */
  readonly body: unknown;
}

/** Makes the platform answer the call with an error. */
export class Refused extends Error {
  override name = "Refused";
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(`refused with ${reply.status}`);
    this.reply = reply;
  }
}

export function answering(handle: () => Reply): Reply {
  try {
    return handle();
  } catch (error) {
    if (error instanceof Refused) return error.reply;
    throw error;
  }
}

export function bearerToken(call: Call): string | undefined {
  const [scheme, token] = (call.headers.authorization ?? "").split(" ", 2);
  return scheme?.toLowerCase() === "bearer" && token !== undefined && token !== ""
    ? token
    : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function jsonObject({ body }: Pick<Call, "body">): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function formOf(call: Call): URLSearchParams {
  return new URLSearchParams(call.body.toString("utf8"));
}

export function contentType(call: Call): string {
  return (call.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
