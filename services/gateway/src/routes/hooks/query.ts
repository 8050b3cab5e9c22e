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

/** Texts of a query obey the same rules as texts of a body. */
export function addQueryRules(app: FastifyInstance): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const start = request.url.indexOf("?");
    const query = start === -1 ? "" : request.url.slice(start + 1);
    const fault = query.includes("%") ? faultOf(query) : undefined;
    done(fault === undefined ? undefined : invalidRequest([fault]));
  });
}
