import type { DescMessage } from "@bufbuild/protobuf";
import {
  handleEvents,
  type EventHandler,
  type IncomingEvent,
} from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";
import { receiveEvents } from "#src/webhooks/operations/receive-events.ts";

/**
 * Returns a function that creates handlers which assign events to the subscriptions that receive them. A repeated event changes
 * nothing, because it has the same id. The function's argument `toEvents` returns the webhook events that an event of the bus
 * stands for; an empty list if no subscription can receive it.
 */
export function fanOutEvents(backlogs: Backlogs) {
  return <T extends DescMessage>(
    schema: T,
    toEvents: (event: IncomingEvent<T>) => readonly WebhookEvent[],
  ): EventHandler =>
    handleEvents(schema, async (tx, events) => {
      const assigned = events.flatMap((incoming) =>
        toEvents(incoming).map((event) => ({ event, cause: incoming.cause })),
      );
      await receiveEvents(tx, backlogs, assigned);
      failpoint("delivery.in-webhook-consumer");
    });
}
