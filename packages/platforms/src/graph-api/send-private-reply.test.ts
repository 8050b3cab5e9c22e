import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type CommentState, sendPrivateReply } from "./private-replies.ts";

const account = { externalId: "1", username: "ada", accessToken: "token", attributes: {} };
const guard = { mayStillSend: () => true, timeoutMs: 5000 };
const NOW = new Date();
const LONG_AGO = new Date(Date.now() - 8 * 86_400_000);

/**
 * Sends a private reply, which the Graph API refuses with the error, to a comment in the given
 * state.
 */
async function sendRefused(
  error: { readonly code: number; readonly error_subcode?: number },
  state: CommentState | undefined,
) {
  const server = createServer((_request, response) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "refused", ...error } }));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    let reads = 0;
    const readState = () => {
      reads += 1;
      return Promise.resolve(state);
    };
    const request = { mediaId: "2", commentId: "3", text: "10 €" };
    const sender = { path: "1/messages", own: {}, readState };
    const outcome = await sendPrivateReply({ baseUrl, account }, { request, sender }, guard);
    return { outcome, reads };
  } finally {
    server.close();
  }
}

const fresh = { createdAt: NOW, hasPrivateReply: undefined };
const old = { createdAt: LONG_AGO, hasPrivateReply: undefined };
const answered = { createdAt: NOW, hasPrivateReply: true };

test.each([
  [{ code: 10_903 }, old, "missed", "older than 7 days"],
  [{ code: 10_903 }, fresh, "content_rejected", "refused"],
  [{ code: 10_903 }, answered, "duplicate_on_platform", "already"],
  [{ code: 10_903 }, undefined, "content_rejected", "refused"],
  [{ code: 100, error_subcode: 2_534_025 }, old, "missed", "older than 7 days"],
  [{ code: 100, error_subcode: 2_534_014 }, fresh, "duplicate_on_platform", "refused"],
  [{ code: 100, error_subcode: 2_534_014 }, old, "missed", "older than 7 days"],
])(
  "a private reply refused with %o, whose comment has the state %o, fails with %s",
  async (error, state, code, message) => {
    const { outcome, reads } = await sendRefused(error, state);
    expect(outcome).toMatchObject({ kind: "refused", code });
    expect(outcome).toHaveProperty("message", expect.stringContaining(message));
    expect(reads).toBe(1);
  },
);

test.each([
  [{ code: 10_900, error_subcode: 2_534_014 }, "duplicate_on_platform"],
  [{ code: 10, error_subcode: 2_534_022 }, "missed"],
  [{ code: 10, error_subcode: 2_018_278 }, "missed"],
  [{ code: 10 }, "permission_missing"],
  [{ code: 551 }, "content_rejected"],
])(
  "a private reply refused with %o fails with %s without reading the comment",
  async (error, code) => {
    const { outcome, reads } = await sendRefused(error, old);
    expect(outcome).toMatchObject({ kind: "refused", code });
    expect(reads).toBe(0);
  },
);
