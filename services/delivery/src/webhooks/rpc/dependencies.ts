import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import type { Sql } from "@postrider/shared/postgres";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { SealingKey } from "@postrider/shared/secrets/sealing";

/** Dependencies of the RPCs about webhooks. */
export interface WebhookRpcDeps {
  readonly sql: Sql;
  /** Addresses that customers may name. */
  readonly outbound: OutboundRules;
  /** Keys that encrypt signing secrets, newest first. */
  readonly sealingKeys: readonly SealingKey[];
  /** The keys with which list cursors are signed. */
  readonly cursorKeys: CursorKeys;
  /** Called when a payload may have to be written. */
  readonly nudgeComposer: () => void;
  /** Called when deliveries may have become due. */
  readonly nudgeDispatcher: () => void;
}
