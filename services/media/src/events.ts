import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MediaReadySchema } from "@postrider/contracts/media/v1/media_events_pb";
import { outboxEvent, type OutboxEvent } from "@postrider/shared/outbox";

interface MediaChange {
  readonly workspaceId: string;
  readonly id: string;
  readonly version: number;
  readonly occurredAt: Date;
}

function toMessage({ workspaceId, id, version, occurredAt }: MediaChange) {
  return {
    workspaceId,
    mediaId: id,
    version: BigInt(version),
    occurredAt: timestampFromDate(occurredAt),
  };
}

/** From now on posts may use the media. */
export function mediaReady(change: MediaChange): OutboxEvent {
  return outboxEvent(MediaReadySchema, toMessage(change), change.id);
}
