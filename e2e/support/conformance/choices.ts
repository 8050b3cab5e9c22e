import type { Pools } from "./pools.ts";
import { randomId, type Random } from "./random.ts";
import type { Chooser } from "./schema-values.ts";

export interface ChoiceOptions {
  readonly pools: Pools;
  readonly random: Random;
  /** Address of the test's server that receives webhooks and serves files to import, such as `http://127.0.0.1:4000`. */
  readonly outsideUrl: string;
}

const EVENTS = ["*", "post.*", "post.published", "target.failed", "media.ready", "webhook.test"];
const PLATFORMS = ["instagram", "facebook", "tiktok", "youtube", "x", "bluesky", "telegram"];
const ZONES = ["Asia/Seoul", "UTC", "America/New_York", "Europe/Berlin", "Pacific/Kiritimati"];
const FILE_TYPES = ["image/jpeg", "image/png", "video/mp4"];
/** Texts of posts stay short in most requests, so that they fit every platform. */
const CONTENTS = [
  "Open on Sunday",
  "Neue Öffnungszeiten",
  "일요일에 엽니다",
  "🚲",
  "a https://a.example b",
];

type Choose = (options: ChoiceOptions) => unknown;

function ids(kind: string, most: number): Choose {
  return ({ pools, random }) => {
    const known = pools.all(kind) as readonly string[];
    if (known.length === 0 || random.chance(0.05)) return [randomId(random)];
    return random.sample(known, random.int(1, most));
  };
}

function oneOf(kind: string): Choose {
  return ({ pools, random }) => pools.pick(kind, random) ?? randomId(random);
}

const optionsOfPosts: Choose = ({ pools, random }) => {
  const keys = random.sample(
    [...PLATFORMS, ...(pools.all("accountId") as readonly string[])],
    random.int(1, 3),
  );
  const option = () => ({
    ...(random.chance(0.6) ? { content: random.pick(CONTENTS) } : {}),
    ...(random.chance(0.3) ? { title: "A title" } : {}),
    ...(random.chance(0.3) ? { privacy: random.pick(["public", "unlisted", "private"]) } : {}),
    ...(random.chance(0.2) ? { tags: ["one", "two"] } : {}),
  });
  return Object.fromEntries(keys.map((key) => [key, option()]));
};

const contents: Choose = ({ random }) => `${random.pick(CONTENTS)} ${random.int(0, 1e9)}`;
const events: Choose = ({ random }) => random.sample(EVENTS, random.int(1, 3));
const zones: Choose = ({ random }) => random.pick(ZONES);
const boundary: Choose = ({ random }) => (random.chance(0.5) ? null : undefined);
const keywords: Choose = ({ random }) => random.sample(["price", "dm", "가격"], random.int(1, 2));

/** Fields whose values must have a meaning that their schema does not express, such as ids. */
const FIELDS: Readonly<Record<string, Choose>> = {
  "CreatePost.content": contents,
  "UpdatePost.content": contents,
  "ValidatePost.content": contents,
  "CreatePost.accountIds": ids("accountId", 2),
  "UpdatePost.accountIds": ids("accountId", 2),
  "ValidatePost.accountIds": ids("accountId", 3),
  "CreatePost.mediaIds": ids("readyMedia", 2),
  "UpdatePost.mediaIds": ids("readyMedia", 2),
  "ValidatePost.mediaIds": ids("readyMedia", 2),
  "CreatePost.options": optionsOfPosts,
  "UpdatePost.options": optionsOfPosts,
  "ValidatePost.options": optionsOfPosts,
  "CreateWebhook.url": ({ outsideUrl }) => `${outsideUrl}/hook`,
  "UpdateWebhook.url": ({ outsideUrl }) => `${outsideUrl}/hook`,
  "CreateWebhook.events": events,
  "UpdateWebhook.events": events,
  "CreateQueueSlotRule.timezone": zones,
  "UpdateQueueSlotRule.timezone": zones,
  "CreateQueueSlotRule.startsOn": boundary,
  "UpdateQueueSlotRule.startsOn": boundary,
  "PresignUpload.contentType": ({ random }) => random.pick(FILE_TYPES),
  "PresignUpload.bytes": ({ random }) => random.int(1, 100_000),
  "ImportMedia.url": ({ outsideUrl, random }) =>
    `${outsideUrl}/${random.pick(["a.jpg", "a.jpg", "missing", "text"])}`,
  "CreateAutomationRule.accountId": oneOf("commentAccountId"),
  "CreateAutomationRule.keywords": keywords,
  "UpdateAutomationRule.keywords": keywords,
  "CreateBackfill.ruleId": oneOf("automationRuleId"),
  "CreateBackfill.mediaId": oneOf("publicationId"),
  "previewBackfill.ruleId": oneOf("automationRuleId"),
  "previewBackfill.mediaId": oneOf("publicationId"),
  "listAutomationRuns.ruleId": oneOf("automationRuleId"),
  "listWebhookDeliveries.eventType": ({ random }) => random.pick(["webhook.test", "media.ready"]),
  // `GET /posts/{id}` with `waitFor` waits up to `timeoutSeconds`, so generated requests keep that short.
  "getPost.waitFor": ({ random }) => (random.chance(0.2) ? "final" : undefined),
  "getPost.timeoutSeconds": () => 1,
};

/** Chooses values that a request needs to be accepted: ids of the workspace, event types, time zones. */
export function createChooser(options: ChoiceOptions): Chooser {
  const { random } = options;
  return {
    choose: (field) => {
      const cursorOf = field.endsWith(".cursor") ? field.slice(0, -".cursor".length) : undefined;
      if (cursorOf !== undefined) return options.pools.pick(`cursor ${cursorOf}`, random);
      // A few fields get any value that fits their schema, instead of a value that lets the request succeed.
      return random.chance(0.03) ? undefined : FIELDS[field]?.(options);
    },
  };
}
