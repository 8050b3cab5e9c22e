import type { ComposeService, ComposeServices } from "./compose-file.ts";

/**
 * The services in the order of their start: each list has those that need only services of earlier
 * lists. Services of a profile are not started.
 */
export function toStages(services: ComposeServices): readonly (readonly string[])[] {
  const waiting = new Map(
    Object.entries(services)
      .filter(([, { profiles = [] }]) => profiles.length === 0)
      .map(([name, service]) => [name, needsOf(service)]),
  );
  const stages: string[][] = [];
  while (waiting.size > 0) {
    const stage = [...waiting]
      .filter(([, needs]) => needs.every((need) => !waiting.has(need)))
      .map(([name]) => name);
    if (stage.length === 0)
      throw new Error(`services need each other: ${[...waiting.keys()].join(", ")}`);
    for (const name of stage) waiting.delete(name);
    stages.push(stage);
  }
  return stages;
}

function needsOf({ depends_on: needs = {}, network_mode: mode = "" }: ComposeService) {
  const [, host] = mode.split("service:");
  return [...Object.keys(needs), ...(host === undefined ? [] : [host])];
}

/** What others wait for before they start: its end, as of migrations, or its health. */
export function awaitedOf(name: string, services: ComposeServices): string | undefined {
  const needs = Object.values(services).map((service) => service.depends_on?.[name]?.condition);
  return needs.find((condition) => condition !== undefined);
}
