import { afterEach, beforeEach, expect, test } from "vitest";
import { telegram, type TestAccount, TestSimulator } from "#src/testing.ts";

let simulator: TestSimulator;
let channel: TestAccount;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  channel = await simulator.account("telegram", "harbour_times");
});

afterEach(() => simulator[Symbol.asyncDispose]());

const send = (parameters: Record<string, unknown>) =>
  telegram(simulator, channel, "sendMessage", parameters);

test("the simulated Telegram gives the messages of a channel consecutive ids", async () => {
  const first = await send({ text: "one" });
  const second = await send({ text: "two", chat_id: "@harbour_times" });
  expect(first.body).toMatchObject({
    ok: true,
    result: { text: "one", chat: { id: Number(channel.externalId), type: "channel" } },
  });
  const id = Number(first.body["result"]?.["message_id"]);
  expect(second.body["result"]?.["message_id"]).toBe(id + 1);
  expect(channel.externalId).toMatch(/^-100\d{10}$/);
});

test.each([
  ["only spaces as its text", { text: " " }, "message text is empty"],
  ["a text of 4,097 characters", { text: "a".repeat(4097) }, "message is too long"],
  ["an empty chat_id", { text: "a", chat_id: "" }, "chat_id is empty"],
  ["an unknown chat_id", { text: "a", chat_id: "-1001" }, "chat not found"],
  ["an unknown parse_mode", { text: "a", parse_mode: "unknown" }, "unsupported parse_mode"],
])("the simulated Telegram refuses a message with %s", async (_name, parameters, reason) => {
  const answer = await send(parameters);
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({
    ok: false,
    error_code: 400,
    description: `Bad Request: ${reason}`,
  });
});

test("the simulated Telegram does not count markup towards the maximum length of a text", async () => {
  const html = { parse_mode: "HTML", text: `<b>${"a".repeat(4095)}</b>&amp;` };
  expect((await send(html)).body["result"]?.["text"]).toHaveLength(4096);
});

test("the simulated Telegram refuses a message whose markup it cannot parse", async () => {
  for (const parameters of [
    { parse_mode: "HTML", text: "<blink>a</blink>" },
    { parse_mode: "HTML", text: "<b>a" },
    { parse_mode: "HTML", text: "<b>a</i>" },
  ]) {
    const answer = await send(parameters);
    expect(answer.body["description"]).toContain("can't parse entities");
  }
});

test("the simulated Telegram refuses the 21st message within a minute and says how many seconds to wait", async () => {
  for (let index = 0; index < 20; index += 1)
    expect((await send({ text: `message ${index}` })).status).toBe(200);
  const refused = await send({ text: "too many" });
  expect(refused.status).toBe(429);
  const seconds = Number(refused.body["parameters"]?.["retry_after"]);
  expect(seconds).toBeGreaterThan(0);
  await simulator.control("/clock", { advanceMs: seconds * 1000 });
  expect((await send({ text: "now" })).status).toBe(200);
});

test("the simulated Telegram answers a call with an unknown token with 401, and a call with a malformed token or an unknown method with 404", async () => {
  const post = (path: string) => simulator.call("POST", `/telegram/${path}`, { json: {} });
  const unknown = await post(`bot123456789:${"a".repeat(35)}/getMe`);
  expect(unknown.body).toEqual({ ok: false, error_code: 401, description: "Unauthorized" });
  expect((await post("botnonsense/getMe")).status).toBe(404);
  expect((await telegram(simulator, channel, "readMessages")).status).toBe(404);
});

test("the simulated Telegram refuses a post by a bot that is not in the channel", async () => {
  const otherChannel = await simulator.account("telegram");
  const foreign = await telegram(simulator, otherChannel, "sendMessage", {
    chat_id: channel.externalId,
    text: "hello",
  });
  expect(foreign.body).toEqual({
    ok: false,
    error_code: 403,
    description: "Forbidden: bot is not a member of the channel chat",
  });
  expect((await telegram(simulator, channel, "leaveChat")).body["result"]).toBe(true);
  expect((await send({ text: "gone" })).status).toBe(403);
});

test("a simulated Telegram bot can read its own profile, its channel and its rights in the channel", async () => {
  const me = await telegram(simulator, channel, "getMe");
  const chat = await telegram(simulator, channel, "getChat");
  expect(chat.body["result"]).toMatchObject({ username: "harbour_times", type: "channel" });
  const member = await telegram(simulator, channel, "getChatMember", {
    user_id: me.body["result"]?.["id"],
  });
  expect(member.body["result"]).toMatchObject({
    status: "administrator",
    can_post_messages: true,
  });
});

test("a simulated Telegram bot may post as a plain member of a group without can_post_messages, a right that only channels have", async () => {
  const group = await simulator.account("telegram", "group_harbour");
  const me = await telegram(simulator, group, "getMe");
  const user_id = me.body["result"]?.["id"];
  const member = await telegram(simulator, group, "getChatMember", { user_id });
  expect(member.body["result"]).toMatchObject({ status: "member" });
  expect(member.body["result"]).not.toHaveProperty("can_post_messages");
  expect((await telegram(simulator, group, "getChat")).body["result"]).toMatchObject({
    type: "supergroup",
    permissions: { can_send_messages: true },
  });
  expect((await telegram(simulator, group, "sendMessage", { text: "Ahoy" })).status).toBe(200);
});

test("the simulated Telegram accepts the parameters of a call as a URL-encoded form", async () => {
  const path = `/telegram/bot${channel.credentials["botToken"] ?? ""}/sendMessage`;
  const form = { chat_id: channel.externalId, text: "by form" };
  expect((await simulator.call("POST", path, { form })).status).toBe(200);
});
