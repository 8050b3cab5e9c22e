import type { Bus } from "#src/bus.ts";
import { openBus, type OpenBusOptions } from "#src/bus/open.ts";
import type { Loop } from "#src/process/loop.ts";
import { startRelay } from "./relay.ts";

type Given = "sql" | "guard" | "logger";

/** Opens the bus, and begins to publish the events of the outbox on it. */
export async function startEvents(
  config: Omit<OpenBusOptions, Given>,
  deps: Pick<OpenBusOptions, Given>,
): Promise<{ readonly bus: Bus; readonly relay: Loop }> {
  const bus = await openBus({ ...config, ...deps });
  return { bus, relay: startRelay({ ...deps, bus, service: config.service }) };
}
