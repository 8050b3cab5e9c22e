import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WebhookSchema } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";

export function toWebhook(row: Subscription): MessageInitShape<typeof WebhookSchema> {
  const { id, url, description, status, signing } = row;
  return {
    id,
    url,
    description,
    events: [...row.events],
    status,
    signing,
    ...(row.disabledReason === null ? {} : { disabledReason: row.disabledReason }),
    ...(row.publicKey === null ? {} : { publicKey: row.publicKey }),
    ...(row.maxPerSecond === null ? {} : { maxPerSecond: row.maxPerSecond }),
    createdAt: timestampFromDate(row.createdAt),
    updatedAt: timestampFromDate(row.updatedAt),
  };
}
