import { expect, test } from "vitest";
import { createTelegramPublishingConnector } from "#src/telegram/publishing/connector.ts";
import { startJsonServer } from "../json-server.ts";
import { PUBLICATION } from "../publication.ts";
import { guard } from "../test-platform.ts";

let result: unknown;
const baseUrl = await startJsonServer(() => ({ body: { ok: true, result } }));
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
