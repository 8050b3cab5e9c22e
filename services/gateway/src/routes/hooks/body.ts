import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { contentBytes } from "#src/http/canonical-json.ts";
import { parseJsonBody } from "#src/http/json-body.ts";

const JSON_TYPE = /^application\/json(?: *; *charset=(?:"utf-8"|utf-8))? *;? *$/i;
const MAX_CONTENT_BYTES = 256 * 1024;

function isJson(request: FastifyRequest): boolean {
  return JSON_TYPE.test(request.headers["content-type"] ?? "");
}

function unsupported(): ServiceError {
  return new ServiceError("invalid", "unsupported_media_type");
}

/** An operation without a body takes an object without properties, which some clients send with every POST. */
function refuseBody(body: unknown): ServiceError | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return invalidRequest([{ code: "type", path: "" }]);
  const violations = Object.keys(body).map((key) => ({
    code: "additional_property",
    path: `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
  }));
  return violations.length > 0 ? invalidRequest(violations) : undefined;
}

function tooLarge(actual: number): ServiceError {
  const violation = { code: "payload_too_large", limit: MAX_CONTENT_BYTES, actual };
  return new ServiceError("invalid", "payload_too_large", [violation]);
}

/**
 * Bodies are JSON in UTF-8 or absent; an empty body is no body, whatever its type. The type is checked before the size
 * where the length is announced, and the size of `content` and `options` before the schema.
 */
export function addBodyRules(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", (request, _reply, done) => {
    const hasBody = Number(request.headers["content-length"] ?? 0) > 0;
    // Fastify refuses a malformed type also where there is nothing to read.
    const isEmpty = !hasBody && request.headers["transfer-encoding"] === undefined;
    if (isEmpty) delete request.raw.headers["content-type"];
    const needsJson = !request.is404 && request.routeOptions.config.isRawBody !== true;
    done(hasBody && needsJson && !isJson(request) ? unsupported() : undefined);
  });
  app.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (request, bytes, done) => {
    request.bodyBytes = bytes.length;
    if (bytes.length === 0) {
      done(null, undefined);
      return;
    }
    if (!isJson(request)) {
      done(unsupported());
      return;
    }
    const parsed = parseJsonBody(bytes);
    if (parsed.ok) done(null, parsed.value);
    else done(invalidRequest(parsed.violations));
  });
  app.addHook("preValidation", (request, _reply, done) => {
    // The re-serialised text is never much longer than what came, so short bodies need no second look.
    const actual = request.bodyBytes > MAX_CONTENT_BYTES ? contentBytes(request.body) : 0;
    done(actual > MAX_CONTENT_BYTES ? tooLarge(actual) : undefined);
  });
  app.addHook("preValidation", (request, _reply, done) => {
    const isUnexpected =
      request.body !== undefined && request.routeOptions.schema?.body === undefined;
    done(isUnexpected ? refuseBody(request.body) : undefined);
  });
}
