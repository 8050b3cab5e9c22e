import { isRecord, type Reply } from "#src/http/call.ts";
import type { Endpoint, TiktokCall } from "#src/tiktok/endpoint.ts";
import { apiAnswer, refuseParameter } from "#src/tiktok/errors.ts";
import type { TiktokNetwork } from "#src/tiktok/network.ts";
import { isIdKnownAt, type Publish } from "#src/tiktok/publishes.ts";
import type { Account } from "#src/world/accounts.ts";

const FIELDS: readonly string[] = [
  "id",
  "title",
  "video_description",
  "create_time",
  "share_url",
  "view_count",
  "like_count",
  "comment_count",
  "share_count",
];
const MAX_IDS = 20;
const MAX_COUNT = 20;
/** A longer title or description is cut. */
const MAX_LISTED_CHARACTERS = 150;

function fieldsOf({ call }: TiktokCall): readonly string[] {
  const fields = (call.query.get("fields") ?? "").split(",").filter((name) => name !== "");
  const unknown = fields.find((name) => !FIELDS.includes(name));
  return fields.length === 0 || unknown !== undefined
    ? refuseParameter(`The fields are missing or unknown: ${unknown ?? ""}`)
    : fields;
}

function view(
  { world }: TiktokNetwork,
  { account, asOf }: TiktokCall,
  publish: Publish,
  fields: readonly string[],
): unknown {
  const { postId: id = "", kind, title, description, receivedAt = 0 } = publish;
  const counts = world.reactions.metricsAt("tiktok", id, asOf);
  const values: Readonly<Record<string, unknown>> = {
    id,
    title: title.slice(0, MAX_LISTED_CHARACTERS),
    video_description: (description === "" ? title : description).slice(0, MAX_LISTED_CHARACTERS),
    create_time: Math.floor(receivedAt / 1000),
    share_url: `https://www.tiktok.com/@${account.username}/${kind}/${id}`,
    view_count: counts.views ?? 0,
    like_count: counts.likes ?? 0,
    comment_count: counts.comments ?? 0,
    share_count: counts.shares ?? 0,
  };
  return Object.fromEntries(fields.map((name) => [name, values[name]]));
}

function listedPublishes(network: TiktokNetwork, account: Account, asOf: number): Publish[] {
  const posts = [...network.world.posts.newestFirst(account)];
  return posts.flatMap(({ id }) => {
    const publish = network.publishes.byPost(id);
    return publish !== undefined && isIdKnownAt(publish, asOf) ? [publish] : [];
  });
}

function idsOf({ body }: TiktokCall): readonly unknown[] {
  const filters = body["filters"];
  const ids = isRecord(filters) ? filters["video_ids"] : undefined;
  return Array.isArray(ids) && ids.length >= 1 && ids.length <= MAX_IDS
    ? ids
    : refuseParameter(`video_ids must be 1 to ${MAX_IDS} ids.`);
}

function query(network: TiktokNetwork, call: TiktokCall): Reply {
  const fields = fieldsOf(call);
  const ids = idsOf(call);
  const found = listedPublishes(network, call.account, call.asOf).filter(({ postId }) =>
    ids.includes(postId),
  );
  return apiAnswer({ videos: found.map((one) => view(network, call, one, fields)) });
}

function numberOf(value: unknown, otherwise: number, max: number): number {
  const number = value ?? otherwise;
  return Number.isInteger(number) && Number(number) >= 0 && Number(number) <= max
    ? Number(number)
    : refuseParameter("max_count or cursor is not valid.");
}

/** The cursor is a time in milliseconds; the page has only posts whose media arrived before it. */
function list(network: TiktokNetwork, call: TiktokCall): Reply {
  const fields = fieldsOf(call);
  const count = numberOf(call.body["max_count"], 10, MAX_COUNT);
  const cursor = numberOf(call.body["cursor"], Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const all = listedPublishes(network, call.account, call.asOf).filter(
    ({ receivedAt = 0 }) => receivedAt < cursor,
  );
  const page = all.slice(0, count);
  return apiAnswer({
    videos: page.map((one) => view(network, call, one, fields)),
    cursor: page.at(-1)?.receivedAt ?? 0,
    has_more: all.length > page.length,
  });
}

export function videoEndpoints(network: TiktokNetwork): readonly Endpoint[] {
  const shared = { method: "POST", reads: true, scope: "video.list", perMinute: 600 } as const;
  return [
    {
      ...shared,
      path: "/v2/video/list/",
      operations: () => ["status"],
      bucket: "video_list",
      handle: (call) => list(network, call),
    },
    {
      ...shared,
      path: "/v2/video/query/",
      operations: () => ["metrics"],
      bucket: "video_query",
      handle: (call) => query(network, call),
    },
  ];
}
