import type { IncomingHttpHeaders } from "node:http";
import type { FetchedFiles } from "#src/http/fetch-media.ts";

/** A request to a simulated platform with its complete body. */
export interface Call {
  readonly method: string;
  /**
   * Path of the platform call without the query and without the platform's prefix in the simulator.
   */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /**
   * Base URL of the simulated platform as the caller of the API used it, without a trailing slash.
   */
  readonly baseUrl: string;
}

/**
 * The conditions under which a platform call is handled: its times, in Unix milliseconds of the
 * simulator's clock, and the media files that were fetched for it.
 */
export interface Moment {
  readonly now: number;
  /**
   * The time whose state the call reads: `now`, or an earlier time while a `stale_reads` fault rule
   * applies.
   */
  readonly asOf: number;
  /**
   * The files that the simulator fetched for this platform call, because `Route.fetches` returned
   * their URLs.
   */
  readonly fetched: FetchedFiles;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Body of a simulated platform's response. A string is sent as HTML, every other value as JSON.
   */
  readonly body: unknown;
}

/** Thrown by the code that handles a platform call, so that the platform answers with an error. */
export class Refused extends Error {
  override name = "Refused";
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(`refused with ${reply.status}`);
    this.reply = reply;
  }
}

/**
 * Runs the code that handles a platform call and returns the response, also when this code throws a
 * refusal.
 */
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

/** The body of a platform call as a JSON object; undefined when the body is not a JSON object. */
export function jsonObject({ body }: Pick<Call, "body">): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The body of a platform call as URL-encoded form fields. */
export function formOf(call: Call): URLSearchParams {
  return new URLSearchParams(call.body.toString("utf8"));
}

export function contentType(call: Call): string {
  return (call.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
