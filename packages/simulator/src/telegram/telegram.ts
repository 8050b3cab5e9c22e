import { randomInt } from "node:crypto";
import { type Call, type Moment, Refused, type Reply } from "#src/http/call.ts";
import {
  type IssuedAccount,
  type Operations,
  type Platform,
  usernameCheck,
} from "#src/platform.ts";
import { isTokenShaped } from "#src/telegram/bots.ts";
import { failure, forbid, refuse, statusFailure, tooManyRequests } from "#src/telegram/errors.ts";
import {
  deleteMessage,
  deleteMessages,
  sendMediaGroup,
  sendMessage,
  sendOne,
} from "#src/telegram/messages.ts";
import {
  type BotCall,
  createNetwork,
  findChat,
  kindOf,
  requireChat,
  type TelegramNetwork,
} from "#src/telegram/network.ts";
import { idOf, parametersOf } from "#src/telegram/parameters.ts";
import { administratorView, botView, chatView, memberView } from "#src/telegram/views.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

function getMe(_network: TelegramNetwork, { bot }: BotCall): unknown {
  return {
    ...botView(bot),
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
  };
}

const GROUP_PERMISSIONS = {
  can_send_messages: true,
  can_send_photos: true,
  can_send_videos: true,
  can_send_other_messages: true,
};

/** Any bot can look up a public chat. */
function getChat(network: TelegramNetwork, { parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  const view = { ...chatView(chat), active_usernames: [chat.username], accent_color_id: 0 };
  return kindOf(chat) === "channel" ? view : { ...view, permissions: GROUP_PERMISSIONS };
}

function getChatMember(network: TelegramNetwork, { bot, parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  if (network.bots.membership(bot, chat.externalId) === undefined)
    forbid("bot is not a member of the channel chat");
  const userId = idOf(parameters.get("user_id")) ?? refuse("invalid user_id specified");
  const member = network.bots.administrators(chat.externalId).find((one) => one.id === userId);
  if (member === undefined) return refuse("user not found");
  return kindOf(chat) === "channel" ? administratorView(member) : memberView(member);
}

function leaveChat(network: TelegramNetwork, { bot, parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  if (network.bots.membership(bot, chat.externalId) === undefined)
    forbid("bot is not a member of the channel chat");
  network.bots.leave(bot, chat.externalId);
  return true;
}

type Method = readonly [Operations, (network: TelegramNetwork, call: BotCall) => unknown];

const SENDING: Operations = ["publish", "create"];

/** By lower-case name, because the Bot API ignores case. No method reads messages back. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["getme", [["account"], getMe]],
  ["getchat", [["account"], getChat]],
  ["getchatmember", [["account"], getChatMember]],
  ["sendmessage", [SENDING, sendMessage]],
  ["sendphoto", [SENDING, (network, call) => sendOne(network, call, "photo")]],
  ["sendvideo", [SENDING, (network, call) => sendOne(network, call, "video")]],
  ["sendanimation", [SENDING, (network, call) => sendOne(network, call, "animation")]],
  ["sendmediagroup", [SENDING, sendMediaGroup]],
  ["deletemessage", [["delete"], deleteMessage]],
  ["deletemessages", [["delete"], deleteMessages]],
  ["leavechat", [["revoke"], leaveChat]],
]);

const REFUSALS: Readonly<Record<string, string>> = {
  delete: "message can't be deleted",
  account: "chat not found",
  revoke: "chat not found",
};

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
  const [, run] = method;
  const parameters = parametersOf(call);
  return {
    status: 200,
    body: { ok: true, result: run(network, { bot, parameters, ...moment }) },
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
  const account = network.world.accounts.ensure("telegram", username, {
    nameOf: (words, number) => `${words.join("_")}_${number}`,
    newId: () => newChatId(network.world, username),
  });
  const botToken = network.bots.issueFor(account.externalId).token;
  return { account, credentials: { botToken, chatId: account.externalId } };
}

/** Only a group that is not a supergroup has an id without the prefix `-100`. */
function newChatId({ accounts }: World, username = ""): string {
  const prefix = username.startsWith("groupold") ? "-" : "-100";
  for (;;) {
    const id = `${prefix}${randomInt(1_000_000_000, 4_000_000_000)}`;
    if (accounts.byId("telegram", id) === undefined) return id;
  }
}

export function createTelegram(world: World): Platform {
  const network = createNetwork(world);
  const route = {
    path: "/bot:token/:method",
    operations: (call: Call) => methodOf(call)?.[0] ?? (["other"] as const),
    handle: (call: Call, moment: Moment) => runMethod(network, call, moment),
  };
  return {
    id: "telegram",
    maxBodyBytes: MAX_BODY_BYTES,
    routes: [
      { method: "GET", ...route },
      { method: "POST", ...route },
    ],
    usernameFault: usernameCheck(
      /^[A-Za-z](?!\w*__)[A-Za-z0-9_]{2,30}[A-Za-z0-9]$/,
      "use 4 to 32 letters, digits and underscores; start with a letter; do not end with an underscore or repeat one",
    ),
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
