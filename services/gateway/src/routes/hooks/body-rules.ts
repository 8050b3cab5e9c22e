import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseJsonBody } from "#src/http/json-body.ts";
import { headerFault } from "#src/http/schema-faults.ts";

/** The rest of a refused body is discarded, so that its sender receives the answer. */
const DISCARD_MS = 5_000;

/** Makes sure that a client receives the answer to a request whose body was not read completely. */
export function addUnreadBodies(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, text, sent) => {
    const isUnread = !request.raw.complete && !request.raw.destroyed;
    if (typeof text !== "string" || !isUnread) {
      sent(null, text);
      return;
    }
    reply.header("content-length", Buffer.byteLength(text));
    sent(null, answerUnread(request.raw, text));
  });
}

/**
 * Returns an answer that ends only when the rest of the request body has been received and
 * discarded, or when this takes too long. Closing a connection with unread bytes resets it, and the
 * client would lose the answer.
 */
function answerUnread(request: IncomingMessage, text: string): Readable {
  async function* answer(): AsyncGenerator<string> {
    yield text;
    request.resume();
    try {
      await finished(request, { signal: AbortSignal.timeout(DISCARD_MS) });
    } catch {
      request.socket.destroy();
    }
  }
  return Readable.from(answer(), { objectMode: false });
}

const JSON_TYPE = /^application\/json *(?:; *charset=(?:"utf-8"|utf-8) *)?(?:; *)?$/i;
/**
 * Maximum size in bytes of a post's text and options, see `contentBytes`; a larger post is refused.
 */
const MAX_CONTENT_BYTES = 256 * 1024;

/** Whether a content type is that of JSON in UTF-8. */
export function isJsonType(contentType: string): boolean {
  return JSON_TYPE.test(contentType);
}

function isJson(request: FastifyRequest): boolean {
  return isJsonType(request.headers["content-type"] ?? "");
}

function unsupported(): ServiceError {
  return new ServiceError("invalid", "unsupported_media_type");
}

/** The gateway decodes no encodings. */
function findEncoding({ headers }: FastifyRequest): ServiceError | undefined {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity") return undefined;
  return new ServiceError("invalid", "unsupported_media_type", [
    headerFault("encoding_unsupported", "Content-Encoding"),
  ]);
}

/** An empty object is accepted, because some clients send it with every POST. */
function refuseBody(body: unknown): ServiceError | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return invalidRequest([{ code: "body_unexpected", path: "" }]);
  const violations = Object.keys(body).map((key) => ({
    code: "additional_property",
    path: `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    expected: "no body",
  }));
  return violations.length > 0 ? invalidRequest(violations) : undefined;
}

function tooLarge(actual: number): ServiceError {
  const violation = { code: "payload_too_large", limit: MAX_CONTENT_BYTES, actual };
  return new ServiceError("invalid", "payload_too_large", [violation]);
}

/**
 * Adds the rules for request bodies. A body is JSON in UTF-8 or absent; an empty body counts as
 * absent, whatever its type. If the length is announced, the type is checked before the size. The
 * size of `content` and `options` is checked before the schema.
 */
export function addBodyRules(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", (request, _reply, done) => {
    const hasBody = Number(request.headers["content-length"] ?? 0) > 0;
    // The content type of an empty body is removed, because fastify would refuse a malformed one.
    const isEmpty = !hasBody && request.headers["transfer-encoding"] === undefined;
    if (isEmpty) delete request.raw.headers["content-type"];
    const needsJson = !request.is404 && request.routeOptions.config.isRawBody !== true;
    if (!needsJson || isEmpty) done();
    else done(findEncoding(request) ?? (hasBody && !isJson(request) ? unsupported() : undefined));
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
    const parse = (): void => {
      const parsed = parseJsonBody(bytes);
      if (parsed.ok) done(null, parsed.value);
      else done(invalidRequest(parsed.violations));
    };
    if (request.waitForTurn === undefined) parse();
    else request.waitForTurn(bytes.length).then(parse, done);
  });
  app.addHook("preValidation", (request, _reply, done) => {
    // A post's text and options are at most a little larger than the request body that contains
    // them. So they are measured only in large bodies.
    const actual = request.bodyBytes > MAX_CONTENT_BYTES ? contentBytes(request.body) : 0;
    done(actual > MAX_CONTENT_BYTES ? tooLarge(actual) : undefined);
  });
  app.addHook("preValidation", (request, _reply, done) => {
    const isUnexpected =
      request.body !== undefined && request.routeOptions.schema?.body === undefined;
    done(isUnexpected ? refuseBody(request.body) : undefined);
  });
}

/**
 * Returns the size of a post's text in bytes: `content` in UTF-8, plus `options` as JSON without
 * white space. Accepts any JSON value, because the schema has not been checked yet.
 */
export function contentBytes(body: unknown): number {
  if (typeof body !== "object" || body === null) return 0;
  const content = "content" in body && typeof body.content === "string" ? body.content : "";
  const options = "options" in body ? (JSON.stringify(body.options) ?? "") : "";
  return Buffer.byteLength(content) + Buffer.byteLength(options);
}
