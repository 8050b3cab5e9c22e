import type { IncomingHttpHeaders } from "node:http";
import type { FetchedFiles } from "#src/http/fetch-media.ts";

/** A request to a platform, read completely. */
export interface Call {
  readonly method: string;
  /** Below the platform's prefix, without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The platform's own address as this caller reached it, without a slash at the end. */
  readonly baseUrl: string;
}

/** The instants at which a call is answered, Unix milliseconds of platform time. */
export interface Moment {
  readonly now: number;
  /** What reads show: `now`, or earlier while `stale_reads` is in force. */
  readonly asOf: number;
  /** What the addresses that `Route.fetches` named gave. */
  readonly fetched: FetchedFiles;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON unless it is a string, which is sent as HTML. */
  readonly body: unknown;
}

/** Thrown anywhere below a handler to answer with a platform's refusal. */
export class Refused extends Error {
  override name = "Refused";
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(`refused with ${reply.status}`);
    this.reply = reply;
  }
}

/** Runs a handler; its refusal is its answer. */
export function answering(handle: () => Reply): Reply {
  try {
    return handle();
  } catch (error) {
    if (error instanceof Refused) {
      return error.reply;
    }
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

/** The body as a JSON object; undefined if it is none. */
export function jsonObject(call: Call): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(call.body.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function contentType(call: Call): string {
  return (call.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
