import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { createTelegramPublishingConnector } from "#src/telegram/publishing/connector.ts";
import { PUBLICATION } from "../publication.ts";
import { guard } from "../test-platform.ts";

let result: unknown;
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: true, result }));
  });
});
await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
afterAll(() => void server.close());

const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const telegram = createTelegramPublishingConnector({ baseUrl });
const chat = { id: -100_123, username: "big_channel", type: "channel" };

test.each([
  ["a message", { message_id: 0, chat }],
  [
    "one message of an album",
    [
      { message_id: 7, chat },
      { message_id: 0, chat },
    ],
  ],
])(
  "a post of which Telegram sends %s later by itself is published, without an id or a permalink that would lead nowhere",
  async (_which, messages) => {
    result = messages;
    expect(await telegram.publish({ ...PUBLICATION, externalId: "-100123" }, {}, guard)).toEqual({
      kind: "published",
      externalId: null,
      permalink: null,
    });
  },
);
