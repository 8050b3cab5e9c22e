import { invalidRequest, type Violation } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";

/** What no schema can see: a query that is no UTF-8 is handed on undecoded, and a NUL is a character like any other. */
function faultOf(query: string): Violation | undefined {
  try {
    const hasNul = decodeURIComponent(query).includes("\0");
    return hasNul ? { code: "nul_character", path: "" } : undefined;
  } catch {
    return { code: "invalid_utf8", path: "" };
  }
}

/** Integers as JSON writes them, as long as they are exact. */
const INTEGER = /^(0|-?[1-9][0-9]{0,14})$/;

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
}

/** A query has only texts: where the schema says integer, one that is an integer is read as it. */
function readIntegers(query: Record<string, unknown>, { properties = {} }: QuerySchema): void {
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query[name];
    if (type === "integer" && typeof text === "string" && INTEGER.test(text))
      query[name] = Number(text);
  }
}

/** Texts of a query obey the same rules as texts of a body. */
export function addQueryRules(app: FastifyInstance): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const start = request.url.indexOf("?");
    const query = start === -1 ? "" : request.url.slice(start + 1);
    const fault = query.includes("%") ? faultOf(query) : undefined;
    const schema = request.routeOptions.schema?.querystring;
    if (schema !== undefined)
      readIntegers(request.query as Record<string, unknown>, schema as QuerySchema);
    done(fault === undefined ? undefined : invalidRequest([fault]));
  });
}
