import type { Locale } from "@postrider/rest/locale";
import type { MediaLinks } from "@postrider/rest/media/links";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountsClient } from "#src/webhooks/clients/accounts.ts";
import type { EngagementReader } from "#src/webhooks/clients/engagement.ts";
import type { MediaClient } from "#src/webhooks/clients/media.ts";
import type { PostsClient } from "#src/webhooks/clients/posts.ts";

/** Dependencies of writing the payloads of webhook events. */
export interface ComposeDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly posts: PostsClient;
  readonly accounts: AccountsClient;
  readonly media: MediaClient;
  readonly engagement: EngagementReader;
  readonly links: Pick<MediaLinks, "urlOf">;
  /** Language of messages for people in webhook payloads. */
  readonly locale: Locale;
}
