import { createHash } from "node:crypto";
import { invalidRequest, notFound, ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { FastifyRequest } from "fastify";
import { defined } from "#src/http/defined.ts";
import { describeFormat, quoteFound } from "#src/http/expected-values.ts";
import { isPathDecodable } from "#src/http/incoming-request.ts";
import { headerFault } from "#src/http/schema-faults.ts";
import type { Caller } from "#src/routes/dependencies.ts";

/**
 * Matches a usable `Idempotency-Key`: 1 to 255 visible ASCII characters, taken literally (quotes
 * belong to the idempotency key). If a client sends the header twice, the two values arrive joined
 * by a comma and a space, which does not match because of the space.
 */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Maximum length, in characters, of a platform's id of media or of a comment; a longer id is
 * answered with `not_found`. The longest ids are record keys of Bluesky. Source:
 * https://atproto.com/specs/record-key, 2026-11-20.
 */
export const MAX_PLATFORM_ID_LENGTH = 512;

/**
 * Returns the caller of a request on a route with a scope. Admission sets the caller before the
 * handler runs.
 */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new ServiceError("unauthenticated", "unauthenticated");
  return request.caller;
}

/**
 * Returns the id in the path of a request.
 *
 * @throws `not_found` for a text that is not a UUID, because no resource has such an id.
 */
export function pathId(request: FastifyRequest<{ Params: { id: string } }>): string {
  const { id } = request.params;
  if (!isId(id)) throw malformedId(id);
  return id;
}

/**
 * Returns the error for a text in a path that is not the id of any resource, because it is not a
 * UUID in lower case.
 */
export function malformedId(id: string): ServiceError {
  const expected = describeFormat("uuid");
  const advice = defined({ expected, found: quoteFound(id) });
  return new ServiceError("not_found", "not_found", [{ code: "malformed_id", ...advice }]);
}

/**
 * Returns a platform's id that stands in the path of a request. It can be any text except `.` and
 * `..`, which would name another address of the platform.
 *
 * @param id The parameter of the path, decoded.
 * @throws `not_found` for a text that no platform uses as an id. `invalid_request` for text that is
 *   not valid UTF-8 or contains a NUL character.
 */
export function pathPlatformId(request: Pick<FastifyRequest, "originalUrl">, id: string): string {
  if (!isPathDecodable(request.originalUrl))
    throw invalidRequest([{ code: "invalid_utf8", path: "" }]);
  if (id.includes("\0")) throw invalidRequest([{ code: "nul_character", path: "" }]);
  const isPossible = id.length > 0 && id.length <= MAX_PLATFORM_ID_LENGTH && !/^\.\.?$/.test(id);
  if (!isPossible) throw notFound();
  return id;
}

/**
 * Returns the client's idempotency key and the fingerprint of the request body; undefined without
 * an idempotency key.
 */
export function readIdempotency(
  request: Pick<FastifyRequest, "headers" | "body">,
): { readonly key: string; readonly fingerprint: string } | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !IDEMPOTENCY_KEY.test(key))
    throw invalidRequest([headerFault("invalid_header", "Idempotency-Key")]);

  return { key, fingerprint: fingerprint(request.body) };
}

/**
 * Returns the lower-case hex SHA-256 of a JSON value with sorted keys. Two bodies have the same
 * fingerprint exactly when they are the same JSON value, whatever their white space and order of
 * keys. An absent body has a fingerprint of its own.
 */
export function fingerprint(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) return canonicalObject(value);
  return value === undefined ? "" : JSON.stringify(value);
}

function canonicalObject(value: object): string {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
