import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { runChecks } from "@postrider/shared/diagnostics/finding";
import { afterAll, expect, test } from "vitest";
import { telegram } from "#src/telegram/platform.ts";

const ANSWERS: Readonly<Record<string, object>> = {
  getMe: { id: 1, username: "bot" },
  getChat: { title: "Sea", type: "channel" },
  getChatMember: { status: "administrator", can_post_messages: true, can_delete_messages: false },
};

const server = createServer((request, response) => {
  const method = /\w+(?=\?|$)/.exec(request.url ?? "")?.[0] ?? "";
  response.end(JSON.stringify({ ok: true, result: ANSWERS[method] }));
});
await new Promise<void>((resolve) => {
  server.listen(0, "127.0.0.1", resolve);
});
afterAll(() => void server.close());

test("the check of a Telegram channel does not say that a bot that may post may not delete its messages", async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { externalId: "-1001", username: "", accessToken: "1:token", attributes: {} };
  expect(await runChecks(telegram.diagnosis({ baseUrl })(access))).toMatchObject([
    {
      status: "ok",
      found:
        "Telegram accepts the token of @bot; in Sea (channel) the bot is administrator and may post",
    },
  ]);
});
