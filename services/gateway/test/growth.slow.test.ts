import { isApiKey } from "@postrider/shared/secrets/api-keys";
import { verifyToken } from "@postrider/shared/secrets/signed-token";
import { expectLinear } from "@postrider/shared/testing/expect-linear";
import { parseTraceparent } from "@postrider/shared/tracing/traceparent";
import { expect, test } from "vitest";
import { parseRange } from "#src/http/byte-range.ts";
import { toContentDisposition } from "#src/http/content-disposition.ts";
import { isMalformedIfMatch, matchesAny, parseIfMatch } from "#src/http/entity-tags.ts";
import { namePlace } from "#src/http/error-places.ts";
import { findIntendedField } from "#src/http/field-aliases.ts";
import { isPathDecodable, normalizeTarget, requestIdOf } from "#src/http/incoming-request.ts";
import { parseJsonBody } from "#src/http/json-body.ts";
import { chooseLocale } from "#src/http/messages.ts";
import { findSimilarPath } from "#src/http/path-advice.ts";
import { isDate, parseTimestamp } from "#src/http/timestamps.ts";
import { browserCookieOf } from "#src/routes/connect/routes.ts";
import { contentBytes, isJsonType } from "#src/routes/hooks/body-rules.ts";
import { findQueryFault } from "#src/routes/hooks/header-and-query-rules.ts";
import { fingerprint, pathPlatformId, readIdempotency } from "#src/routes/request.ts";

/** Runs a parser that throws for texts that it refuses. */
function tryTo(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

const PARSERS = {
  "the check of Content-Type": isJsonType,
  "the parser for If-Match": parseIfMatch,
  "the check of a malformed If-Match": isMalformedIfMatch,
  "the comparison of If-None-Match": (text) => matchesAny(text, '"1"'),
  "the parser for Range": parseRange,
  "the parser for Accept-Language": (text) => chooseLocale(text, "en"),
  "the parser for X-Request-Id": requestIdOf,
  "the parser for request targets": (text) => [normalizeTarget(text), isPathDecodable(text)],
  "the search for a similar path": (text) => findSimilarPath(text, ["/api/v1/posts", "/docs"]),
  "the search for the intended field": (text) => findIntendedField(text, ["content", "options"]),
  "the parser for times": parseTimestamp,
  "the fraction of seconds in times": (text) => parseTimestamp(`2026-11-28T09:00:00.${text}Z`),
  "the check of dates": isDate,
  "the parser for Idempotency-Key": (text) =>
    tryTo(() => readIdempotency({ headers: { "idempotency-key": text }, body: {} })),
  "the fingerprint of a body": (text) => fingerprint({ [text]: [text, { content: text }] }),
  "the check of queries": findQueryFault,
  "the parser for ids of platforms in paths": (text) =>
    tryTo(() => pathPlatformId({ originalUrl: `/${text}` }, text)),
  "the parser for cookies": (text) =>
    browserCookieOf("state", "https://example.com").read(`${text};${text}`),
  "the check of API keys": isApiKey,
  "the check of tokens for uploads": (text) =>
    tryTo(() => verifyToken("key", "upload", text, new Date(0))),
  "the parser for traceparent": parseTraceparent,
  "the header for file names": toContentDisposition,
  "the name of a place in a body": (text) => namePlace(`/options/${text}/content`, "body", "en"),
  "the parser for JSON bodies": (text) => parseJsonBody(Buffer.from(text)),
  "the parser for texts in JSON bodies": (text) =>
    parseJsonBody(Buffer.from(JSON.stringify({ content: text, [text]: "\\u0000" }))),
  "the size of a post": (text) => contentBytes({ content: text, options: { x: { title: text } } }),
} satisfies Readonly<Record<string, (text: string) => unknown>>;

test.each(Object.entries(PARSERS))(
  "the run time of %s grows linearly with the length of the text",
  (_name, parse) => {
    expect(() => expectLinear(parse)).not.toThrow();
  },
);
