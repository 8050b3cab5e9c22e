import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { readIdempotency } from "#src/routes/request.ts";

const requestWith = (key: string) =>
  ({ headers: { "idempotency-key": key }, body: undefined }) as unknown as FastifyRequest;

test.each(["a", "!", "~", '"quoted"', "a,b", "x".repeat(255)])(
  "the Idempotency-Key %j is accepted",
  (key) => {
    expect(readIdempotency(requestWith(key))?.key).toBe(key);
  },
);

test.each(["", "x".repeat(256), "a b", "a, b", "a\t", "a\n", "\u007f", "é", "키"])(
  "the Idempotency-Key %j is refused",
  (key) => {
    expect(() => readIdempotency(requestWith(key))).toThrow("invalid_request");
  },
);
