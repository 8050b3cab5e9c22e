import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MediaReadySchema } from "@postrider/contracts/media/v1/media_events_pb";
import { outboxEvent, type OutboxEvent } from "@postrider/shared/outbox";

/** The data that the event MediaReady contains. */
interface MediaChange {
  readonly workspaceId: string;
  readonly id: string;
  /** Version of the media after the change that the event announces. */
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

/** Creates the event MediaReady: from now on posts may use the media. */
export function mediaReady(change: MediaChange): OutboxEvent {
  return outboxEvent(MediaReadySchema, toMessage(change), change.id);
}
