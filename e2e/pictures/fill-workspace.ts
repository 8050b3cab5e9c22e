import { createClient, type Client } from "@postrider/client";
import postgres from "postgres";
import type { Receiver } from "../support/observers/receiver.ts";
import { createSimulatorControl } from "../support/requests/simulator.ts";
import { addAutomations, type CommentedPost } from "./add-automations.ts";
import { addMetrics, moveToPast } from "./backdate.ts";
import { failPosts, type Shown } from "./fail-posts.ts";
import { DESCRIPTIONS, drawScene, type Scene } from "./scenes.ts";
import {
  ACCOUNTS,
  type AccountName,
  COMMENTS,
  DRAFTS,
  PUBLISHED,
  SCHEDULED,
  type ShownPost,
} from "./shown-posts.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SEOUL_OFFSET_MS = 9 * HOUR_MS;
const NAME = "Hangang & Spree Cycles";

interface ShownStack {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly simulatorUrl: string;
  /** Where the webhooks are sent. */
  readonly receiver: Pick<Receiver, "url" | "answer">;
  readonly operate: <T>(...args: readonly string[]) => Promise<T>;
}

/** Fills a new workspace with two weeks of posts and what belongs to them, and returns its id. */
export async function fillWorkspace(stack: ShownStack): Promise<string> {
  const workspace = ["workspace", "create", "--name", NAME, "--verified"];
  const { id: workspaceId } = await stack.operate<{ id: string }>(...workspace);
  const apiKey = await createKey(stack, workspaceId, ["Website", "all"]);
  const sql = postgres(stack.databaseUrl, { max: 2, onnotice: () => undefined });
  const simulator = createSimulatorControl(stack.simulatorUrl);
  await simulator.liftQuotas();
  const client = createClient({ baseUrl: stack.baseUrl, apiKey });
  const ids = await connectAccounts(stack, workspaceId, sql);
  const { accounts } = await client.listAccounts();
  const shown: Shown = { client, sql, simulator, ids, accounts, create: createPosts(client, ids) };

  const { url } = stack.receiver;
  await client.createWebhook({ url: `${url}/shop`, description: "Shop", events: ["*"] });
  await client.createWebhook({ url: `${url}/till`, description: "Till", events: ["post.*"] });
  const commented = await addPublished(shown);
  await addMetrics(sql, workspaceId);
  await addPlans(shown);
  await addAutomations(shown, commented);
  await createKey(stack, workspaceId, ["Zapier", "posts:read,posts:write"]);
  await createKey(stack, workspaceId, ["Claude, drafts only", "all", "--mcp", "draft-only"]);
  await createKey(stack, workspaceId, ["Nightly report", "posts:read,accounts:read"]);
  stack.receiver.answer("/till", 500, '{"error": "relation \\"orders\\" does not exist"}');
  await failPosts(shown, workspaceId);
  await sql.end();
  return workspaceId;
}

async function createKey(
  { operate }: ShownStack,
  workspaceId: string,
  [name, scopes, ...more]: readonly [name: string, scopes: string, ...more: string[]],
): Promise<string> {
  const words = ["key", "create", "--workspace", workspaceId, "--name", name, "--scopes", scopes];
  return (await operate<{ key: string }>(...words, ...more)).key;
}

async function connectAccounts(
  { operate }: ShownStack,
  workspaceId: string,
  sql: postgres.Sql,
): Promise<Shown["ids"]> {
  const ids = await Promise.all(
    Object.entries(ACCOUNTS).map(async ([name, [platform, username, title]]) => {
      const words = ["account", "connect", platform, "--workspace", workspaceId, "--simulated"];
      const { id } = await operate<{ id: string }>(...words, "--username", username);
      await sql`update accounts.accounts set display_name = ${title} where id = ${id}`;
      return [name, id] as const;
    }),
  );
  return Object.fromEntries(ids) as Record<AccountName, string>;
}

/** Each scene is uploaded once, however many posts show it. */
function createPosts(client: Client, ids: Shown["ids"]): Shown["create"] {
  const pictures = new Map<Scene, Promise<string>>();
  const upload = async (scene: Scene): Promise<string> => {
    const { id } = await client.uploadFile(await drawScene(scene), { fileName: `${scene}.jpg` });
    await client.updateMedia(id, { altText: DESCRIPTIONS[scene] });
    return id;
  };
  return async ({ text, on, scene }, more = {}) => {
    if (scene !== undefined && !pictures.has(scene)) pictures.set(scene, upload(scene));
    const mediaIds = scene === undefined ? [] : [(await pictures.get(scene)) ?? ""];
    const accountIds = on.map((name) => ids[name]);
    return await client.createPost({ content: text, accountIds, mediaIds, ...more });
  };
}

function instantOf([days, clock]: ShownPost["at"]): Date {
  const today = new Date(Date.now() + SEOUL_OFFSET_MS).toISOString().slice(0, 10);
  return new Date(Date.parse(`${today}T${clock}:00+09:00`) + days * DAY_MS);
}

/** One after the other, so that each can be shown at a time of its own; with their comments. */
async function addPublished(shown: Shown): Promise<ReadonlyMap<number, CommentedPost>> {
  const { client, sql, simulator, accounts, create } = shown;
  const commented = new Map<number, CommentedPost>();
  for (const [index, post] of PUBLISHED.entries()) {
    const { id } = await create(post);
    const { targets } = await client.waitForPost(id);
    // In Seoul's morning, what is shown as published later that day would lie ahead.
    const latest = Date.now() - 3 * HOUR_MS;
    await moveToPast(sql, id, new Date(Math.min(instantOf(post.at).getTime(), latest)));
    const target = targets.find(({ platform }) => platform === "instagram");
    const account = accounts.find((each) => each.id === target?.accountId);
    if (account === undefined) continue;
    const { externalId = "" } = target ?? {};
    const media = { platform: "instagram", account: account.externalId, id: externalId ?? "" };
    commented.set(index, media);
    const createdAt = new Date(Date.now() - (index + 0.2) * HOUR_MS).toISOString();
    for (const [of, author, text] of COMMENTS)
      if (of === index) await simulator.addComment(media, { text, author, createdAt });
  }
  return commented;
}

async function addPlans({ client, create }: Shown): Promise<void> {
  await client.createQueueSlotRule({
    name: "Evenings",
    timezone: "Asia/Seoul",
    weekdays: ["mon", "wed", "fri"],
    times: ["12:00", "18:00"],
  });
  await client.createQueueSlotRule({
    name: "Berlin mornings",
    timezone: "Europe/Berlin",
    weekdays: ["tue", "thu", "sat"],
    times: ["09:30"],
  });
  for (const post of SCHEDULED)
    await create(post, { scheduledAt: instantOf(post.at).toISOString() });
  for (const draft of DRAFTS) await create(draft, { isDraft: true });
}
