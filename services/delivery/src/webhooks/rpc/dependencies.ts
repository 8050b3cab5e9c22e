import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import type { Sql } from "@postrider/shared/postgres";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";

/** Dependencies of the RPCs about webhook subscriptions. */
export interface WebhookRpcDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  /** Rules for the endpoint addresses that customers may choose. */
  readonly outbound: OutboundRules;
  /** Keys that encrypt the signing secrets of webhook subscriptions, newest first. */
  readonly sealingKeys: readonly SealingKey[];
  /** The keys with which the cursors of webhook lists are signed. */
  readonly cursorKeys: CursorKeys;
  /** The limits of waiting webhook deliveries. */
  readonly backlogs: Backlogs;
  /** Called when the payload of a webhook event may have to be written. */
  readonly nudgeComposer: () => void;
  /** Called when webhook deliveries may have become due. */
  readonly nudgeDispatcher: () => void;
}
