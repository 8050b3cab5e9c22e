import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { toInstant } from "#src/answers.ts";
import { chosenServices } from "#src/chosen-services.ts";
import type { Arguments, Command, Result } from "#src/command.ts";
import type { ServiceName } from "#src/config.ts";
import { CommandFailure, UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

const MAX_LISTED = 1_000;

function clientOf(services: Services, service: ServiceName) {
  return services.client(service, ParkedEventService);
}

async function listParked(services: Services, service: ServiceName) {
  const { events } = await clientOf(services, service).listParkedEvents({ limit: MAX_LISTED });
  return events.map((event) => ({
    service,
    id: event.id,
    eventId: event.eventId,
    eventType: event.eventType,
    topic: event.topic,
    key: event.key,
    error: event.error,
    attemptCount: event.attemptCount,
    parkedAt: toInstant(event.parkedAt),
  }));
}

async function list(services: Services, args: Arguments): Promise<Result> {
  const lists = await Promise.all(chosenServices(args).map((name) => listParked(services, name)));
  const events = lists.flat();
  const rows = events.map((event) => [
    event.service,
    event.id,
    event.parkedAt ?? "",
    String(event.attemptCount),
    event.eventType,
    event.error,
  ]);
  const headings = ["service", "id", "parked", "tries", "type", "error"];
  return { json: { events }, text: formatTable(headings, rows, "no parked events") };
}

async function redrive(services: Services, args: Arguments): Promise<Result> {
  const chosen = chosenServices(args);
  const ids = [...args.positionals];
  if (ids.length > 0 && chosen.length > 1)
    throw new UsageError("the ids of events belong to one service; name it with --service");
  const total = { redriven: 0, failed: 0 };
  for (const service of chosen) {
    const { redriven, failed } = await clientOf(services, service).redriveParkedEvents({ ids });
    total.redriven += redriven;
    total.failed += failed;
  }
  const text = `${total.redriven} handled now, ${total.failed} failed again`;
  if (total.failed > 0)
    throw new CommandFailure(
      "events_failed",
      `${text}; \`postrider events list\` shows why. Fix the cause and run the command again`,
    );
  return { json: total, text };
}

/**
 * Commands about parked events: events that a service could not handle, or that the broker refused.
 */
export const eventCommands: readonly Command[] = [
  {
    words: "events list",
    synopsis: "[--service S]",
    summary: "list parked events, newest first, at most 1,000 of each service",
    run: list,
  },
  {
    words: "events redrive",
    synopsis: "[--service S [ID …]]",
    summary: "handle parked events again: the given events, or all of them",
    run: redrive,
  },
];
