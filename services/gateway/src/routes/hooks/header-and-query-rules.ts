import { invalidRequest, type Violation } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { QuerySchema } from "#src/http/schema-faults.ts";

/** A client and all proxies on the way send far fewer. */
const MAX_HEADERS = 100;

/**
 * Matches integers in a query as JSON writes them, with so few digits that a number holds them
 * exactly.
 */
const INTEGER = /^(0|-?[1-9][0-9]{0,14})$/;

/** Node silently drops the headers beyond 2,000 and limits only their total size. */
export function addHeaderRules(app: FastifyInstance): void {
  app.addHook("onRequest", ({ raw }, _reply, done) => {
    // Node's `rawHeaders` contains the name and the value of each header as two items, so half of
    // its length is the number of headers.
    const actual = raw.rawHeaders.length / 2;
    const violation = { code: "too_many_headers", path: "", limit: MAX_HEADERS, actual };
    done(actual > MAX_HEADERS ? invalidRequest([violation]) : undefined);
  });
}

/** A query that is not valid UTF-8, or that contains a NUL character. */
export function findQueryFault(query: string): Violation | undefined {
  try {
    const hasNul = decodeURIComponent(query).includes("\0");
    return hasNul ? { code: "nul_character", path: "" } : undefined;
  } catch {
    return { code: "invalid_utf8", path: "" };
  }
}

/** Texts that are not integers stay, and the schema refuses them. */
function readIntegers(query: Record<string, unknown>, { properties = {} }: QuerySchema): void {
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query[name];
    if (type === "integer" && typeof text === "string" && INTEGER.test(text))
      query[name] = Number(text);
  }
}

/**
 * Refuses a query that is not valid UTF-8 or contains a NUL character, as in request bodies, and
 * converts its integers.
 */
export function addQueryRules(app: FastifyInstance): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const start = request.url.indexOf("?");
    const query = start === -1 ? "" : request.url.slice(start + 1);
    const fault = query.includes("%") ? findQueryFault(query) : undefined;
    const schema = request.routeOptions.schema?.querystring;
    if (schema !== undefined)
      readIntegers(request.query as Record<string, unknown>, schema as QuerySchema);
    done(fault === undefined ? undefined : invalidRequest([fault]));
  });
}
