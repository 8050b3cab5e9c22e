import { MAX_GENERATION } from "@postrider/contracts/generation";
import { isPlatformId } from "@postrider/platforms/platform-id";
import {
  between,
  type ColumnCheck,
  isInstant,
  list,
  oneOf,
  record,
  text,
} from "@postrider/shared/workspaces/column-checks";
import type { ImportRules } from "@postrider/shared/workspaces/import-service";
import {
  isKeyword,
  MAX_KEYWORDS,
  MAX_MEDIA,
  MAX_MESSAGE_BYTES,
  MAX_NAME_LENGTH,
  MAX_RULES_PER_WORKSPACE,
} from "#src/engagement/domain/automation-rule.ts";
import { isMediaId } from "#src/engagement/domain/text.ts";
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_FILTERS,
  MAX_PER_SECOND,
  MAX_URL_LENGTH,
  MAX_WEBHOOKS_PER_WORKSPACE,
} from "#src/webhooks/domain/subscription.ts";
import { isEventFilter } from "#src/webhooks/domain/webhook-event.ts";

const generation = between(1, MAX_GENERATION);
const keywords = list(MAX_KEYWORDS, text(4096, isKeyword));

const isWebhookUrl: ColumnCheck = text(MAX_URL_LENGTH, (url) =>
  /^https?:$/.test(URL.parse(url)?.protocol ?? ""),
);

export const IMPORT_RULES: ImportRules = {
  publish_tasks: { columns: { platform: isPlatformId, generation } },
  publish_attempts: { columns: { number: between(1, 100_000) } },
  detail_questions: {
    columns: { platform: isPlatformId, generation, handles: record(50, text(4096)) },
  },
  automation_rules: {
    columns: {
      platform: isPlatformId,
      name: text(2 * MAX_NAME_LENGTH),
      media_ids: list(MAX_MEDIA, text(4096, isMediaId)),
      // A revoked rule has none, and an empty message.
      keywords,
      exclude_keywords: keywords,
      message: text(
        MAX_MESSAGE_BYTES,
        (message) => Buffer.byteLength(message) <= MAX_MESSAGE_BYTES,
      ),
    },
    max: [{ count: MAX_RULES_PER_WORKSPACE, where: "status <> 'revoked'" }],
  },
  comment_actions: {
    // A reply has at most 10,000 characters.
    columns: {
      platform: isPlatformId,
      text: text(20_000),
      // On Bluesky its author chooses it.
      comment_created_at: isInstant,
    },
  },
  webhook_subscriptions: {
    columns: {
      url: isWebhookUrl,
      description: text(MAX_DESCRIPTION_LENGTH),
      events: list(MAX_FILTERS, text(100, isEventFilter)),
      disabled_reason: oneOf("gone", "failing"),
      max_per_second: between(1, MAX_PER_SECOND),
    },
    max: [{ count: MAX_WEBHOOKS_PER_WORKSPACE, where: "status <> 'revoked'" }],
  },
  target_metrics: { columns: { platform: isPlatformId } },
};
