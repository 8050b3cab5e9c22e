import { randomInt } from "node:crypto";
import type { Operation } from "#src/faults/rule.ts";
import { type Call, type Moment, Refused, type Reply } from "#src/http/call.ts";
import type { IssuedAccount, Platform } from "#src/platform.ts";
import { isTokenShaped } from "#src/telegram/bots.ts";
import {
  getChat,
  getChatAdministrators,
  getChatMember,
  getMe,
  getUpdates,
  leaveChat,
} from "#src/telegram/chats.ts";
import { failure, statusFailure, tooManyRequests } from "#src/telegram/errors.ts";
import {
  deleteMessage,
  deleteMessages,
  editMessageText,
  sendMessage,
} from "#src/telegram/messages.ts";
import {
  type BotCall,
  createNetwork,
  findChat,
  type TelegramNetwork,
} from "#src/telegram/network.ts";
import { parametersOf } from "#src/telegram/parameters.ts";
import { sendAnimation, sendMediaGroup, sendPhoto, sendVideo } from "#src/telegram/send-media.ts";
import type { Account } from "#src/world/accounts.ts";
import { inventName } from "#src/world/names.ts";
import type { World } from "#src/world/world.ts";

interface Method {
  readonly operations: readonly [Operation, ...Operation[]];
  readonly run: (network: TelegramNetwork, call: BotCall) => unknown;
}

/** By lower-case name, because the Bot API ignores case. No method reads messages back. */
const METHODS: ReadonlyMap<string, Method> = new Map([
  ["getme", { operations: ["account"], run: getMe }],
  ["getchat", { operations: ["account"], run: getChat }],
  ["getchatmember", { operations: ["account"], run: getChatMember }],
  ["getchatadministrators", { operations: ["account"], run: getChatAdministrators }],
  ["sendmessage", { operations: ["publish", "create"], run: sendMessage }],
  ["sendphoto", { operations: ["publish", "create"], run: sendPhoto }],
  ["sendvideo", { operations: ["publish", "create"], run: sendVideo }],
  ["sendanimation", { operations: ["publish", "create"], run: sendAnimation }],
  ["sendmediagroup", { operations: ["publish", "create"], run: sendMediaGroup }],
  ["editmessagetext", { operations: ["other"], run: editMessageText }],
  ["deletemessage", { operations: ["delete"], run: deleteMessage }],
  ["deletemessages", { operations: ["delete"], run: deleteMessages }],
  ["leavechat", { operations: ["revoke"], run: leaveChat }],
  ["getupdates", { operations: ["other"], run: getUpdates }],
]);

const REFUSALS: Readonly<Record<string, string>> = {
  delete: "message can't be deleted",
  account: "chat not found",
  revoke: "chat not found",
};

const USERNAME = /^[A-Za-z](?!\w*__)[A-Za-z0-9_]{2,30}[A-Za-z0-9]$/;
const SIMULATED_WAIT_SECONDS = 1;
/** An album of ten videos of the largest size, with the form around them. */
const MAX_BODY_BYTES = 501_000_000;

function methodOf(call: Call): Method | undefined {
  return METHODS.get((call.params["method"] ?? "").toLowerCase());
}

function runMethod(network: TelegramNetwork, call: Call, moment: Moment): Reply {
  const token = call.params["token"] ?? "";
  const bot = network.bots.byToken(token);
  if (bot === undefined) return statusFailure(isTokenShaped(token) ? 401 : 404);

  const method = methodOf(call);
  if (method === undefined) return failure(404, "Not Found: method not found");

  const parameters = parametersOf(call);
  return {
    status: 200,
    body: { ok: true, result: method.run(network, { bot, parameters, ...moment }) },
  };
}

function accountOf(network: TelegramNetwork, call: Call): Account | undefined {
  try {
    return findChat(network, parametersOf(call));
  } catch (error) {
    if (error instanceof Refused) return undefined;

    throw error;
  }
}

function issueAccount(network: TelegramNetwork, username: string | undefined): IssuedAccount {
  const { accounts } = network.world;
  const nameOf = (words: readonly string[], number: number) => `${words.join("_")}_${number}`;
  const invented = inventName(
    ({ words, number }) => accounts.byUsername("telegram", nameOf(words, number)) !== undefined,
  );
  const name = username ?? nameOf(invented.words, invented.number);
  const account =
    accounts.byUsername("telegram", name) ??
    accounts.add({
      platform: "telegram",
      externalId: newChatId(network.world),
      username: name,
      displayName: invented.displayName,
    });
  const botToken = network.bots.issueFor(account.externalId).token;
  return { account, credentials: { botToken, chatId: account.externalId } };
}

function newChatId({ accounts }: World): string {
  for (;;) {
    const id = `-100${randomInt(1_000_000_000, 4_000_000_000)}`;
    if (accounts.byId("telegram", id) === undefined) return id;
  }
}

export function createTelegram(world: World): Platform {
  const network = createNetwork(world);
  const route = {
    path: "/bot:token/:method",
    operations: (call: Call) => methodOf(call)?.operations ?? (["other"] as const),
    handle: (call: Call, moment: Moment) => runMethod(network, call, moment),
  };
  return {
    id: "telegram",
    maxBodyBytes: MAX_BODY_BYTES,
    routes: [
      { method: "GET", ...route },
      { method: "POST", ...route },
    ],
    usernameFault: (username) =>
      USERNAME.test(username)
        ? undefined
        : "use 4 to 32 letters, digits and underscores; start with a letter; do not end with an underscore or repeat one",
    issueAccount: (username) => issueAccount(network, username),
    accountOf: (call) => accountOf(network, call),
    loggedPath: (path) => path.replace(/^\/bot[^/]*/, "/bot<token>"),
    errorReply: (status) =>
      status === 429 ? tooManyRequests(SIMULATED_WAIT_SECONDS) : statusFailure(status),
    refusal: (operation) =>
      failure(400, `Bad Request: ${REFUSALS[operation] ?? "message text is empty"}`),
    notFound: () => statusFailure(404),
  };
}
