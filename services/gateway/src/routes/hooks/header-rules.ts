import { invalidRequest } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";

/** More than any client and all proxies on the way send. */
const MAX_HEADERS = 100;

/**
 * Node bounds the size of all headers and leaves out what is beyond 2,000 of them: a request is refused rather than read
 * in part.
 */
export function addHeaderRules(app: FastifyInstance): void {
  app.addHook("onRequest", ({ raw }, _reply, done) => {
    // Names and values in turn.
    const actual = raw.rawHeaders.length / 2;
    const violation = { code: "too_many_headers", path: "", limit: MAX_HEADERS, actual };
    done(actual > MAX_HEADERS ? invalidRequest([violation]) : undefined);
  });
}
