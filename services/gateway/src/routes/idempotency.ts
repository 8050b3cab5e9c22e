import { invalidRequest } from "@postrider/shared/errors";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { fingerprint } from "#src/http/canonical-json.ts";
import { isIdempotencyKey } from "#src/http/idempotency-key.ts";

/** Headers of operations that create something. */
export const IDEMPOTENCY_HEADERS = {
  "Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: "^[!-~]*$",
      description: "Recommended. Repeats with the same key count once, for 24 hours.",
    }),
  ),
};

/** Header of an answer that was given before. */
export const REPLAYED_HEADER = {
  "Idempotent-Replayed": {
    type: "string",
    const: "true",
    description: "An earlier request with the same key made it.",
  },
};

/** Headers of what they answer, where it can be read again. */
export const CREATED_HEADERS = {
  Location: { type: "string", description: "Where it is from now on." },
  ...REPLAYED_HEADER,
};

/** The client's key with the fingerprint of what it stands for, or undefined when the client sent none. */
export function readIdempotency(
  request: FastifyRequest,
): { readonly key: string; readonly fingerprint: string } | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !isIdempotencyKey(key)) {
    throw invalidRequest([{ code: "invalid_header", path: "Idempotency-Key" }]);
  }
  return { key, fingerprint: fingerprint(request.body) };
}
