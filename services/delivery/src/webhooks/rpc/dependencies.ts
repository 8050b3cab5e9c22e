import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import type { Sql } from "@postrider/shared/postgres";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";

export interface WebhookRpcDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly outbound: OutboundRules;
  /** Keys that seal signing secrets, newest first. */
  readonly sealingKeys: readonly SealingKey[];
  readonly cursorKeys: CursorKeys;
  readonly backlogs: Backlogs;
  readonly nudgeDispatcher: () => void;
}
