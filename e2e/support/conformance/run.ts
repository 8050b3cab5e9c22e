import type { Server } from "node:http";
import type { System } from "../system.ts";
import { createKey } from "../tenant.ts";
import { createChecker } from "./check-answer.ts";
import { createChooser } from "./choices.ts";
import { findUnrecorded } from "./deeds.ts";
import { listOperations, type ApiDocument } from "./document.ts";
import type { JourneyWorld } from "./journey.ts";
import { JOURNEYS } from "./journeys.ts";
import { createPools, type Pools } from "./pools.ts";
import { createRandom } from "./random.ts";
import { LIMITED_SCOPE, type Workbench } from "./request.ts";
import { createSchemaJudge } from "./schema-judge.ts";
import { createReport, openSession, type Report, type Session } from "./session.ts";
import { openTransport, type Transport } from "./transport.ts";
import { addressOf, inhabit, type Inhabited } from "./world.ts";

export interface RunOptions {
  readonly seed: number;
  readonly requests: number;
  /** Number of conformance requests that are in progress at the same time. */
  readonly parallel: number;
}

/** Number of generated requests after which all journeys (sequences of requests) are repeated. */
const REQUESTS_BETWEEN_JOURNEYS = 1_000;

interface Place {
  readonly system: System;
  readonly outside: Server;
  readonly document: ApiDocument;
  readonly transport: Transport;
  readonly report: Report;
}

async function openWorkspace(
  { system, outside, document, transport, report }: Place,
  seed: number,
  foreign: Pools,
): Promise<{ session: Session; world: JourneyWorld }> {
  const inhabited: Inhabited = await inhabit(system);
  const { tenant, pools } = inhabited;
  const limited = await createKey(system, tenant.id, LIMITED_SCOPE);
  const random = createRandom(seed);
  const outsideUrl = `http://${addressOf(outside)}`;
  const chooser = createChooser({ pools, random, outsideUrl });
  const judge = createSchemaJudge(document, "requests");
  const keys = { full: tenant.key, limited };
  const nowMs = Date.now();
  const bench: Workbench = { document, judge, seed, random, pools, foreign, chooser, nowMs, keys };
  const checker = createChecker(document, createSchemaJudge(document, "answers"));
  const session = openSession(bench, { checker, transport, report });
  const ownAccountId = await tenant.connect("x");
  return { session, world: { ...inhabited, ownAccountId, outsideUrl } };
}

async function runJourneys({ session, world }: { session: Session; world: JourneyWorld }) {
  await Promise.all(
    Object.entries(JOURNEYS).map(async ([name, journey]) => {
      await journey(session, world).catch((error: unknown) =>
        session.addProblem(name, "a journey ended early", String(error)),
      );
    }),
  );
}

/** Sends generated requests and journeys to the system, and reports every answer that contradicts its API description. */
export async function runConformance(
  { system, outside }: Pick<Place, "system" | "outside">,
  { seed, requests, parallel }: RunOptions,
): Promise<Report> {
  const { baseUrl } = system.local();
  const answer = await fetch(`${baseUrl}/api/v1/openapi.json`);
  const document = (await answer.json()) as ApiDocument;
  using transport = openTransport(baseUrl, parallel);
  const report = createReport();
  const place: Place = { system, outside, document, transport, report };
  // Journeys delete what they create. Their workspace is a separate one, because generated requests can reach the workspace's
  // limits.
  const travelled = await openWorkspace(place, seed, createPools());
  await runJourneys(travelled);
  const own = await openWorkspace(place, seed, travelled.session.bench.pools);
  await runJourneys(own);
  while (report.requests < requests) {
    const goal = report.requests + REQUESTS_BETWEEN_JOURNEYS;
    await own.session.sendGenerated(Math.min(requests, goal), parallel);
    if (report.requests < requests) await runJourneys(travelled);
  }
  addUnreached(own.session, document);
  const operations = listOperations(document);
  for (const { id, problem } of await findUnrecorded(system, operations, own.world.tenant.id))
    own.session.addProblem(id, problem, "");
  return report;
}

/** Reports the operations that got no request, or that refused every request. */
function addUnreached({ report, addProblem }: Session, document: ApiDocument): void {
  for (const { id } of listOperations(document)) {
    const statuses = [...(report.statuses.get(id)?.keys() ?? [])];
    if (!statuses.some((status) => status < 300)) addProblem(id, "never succeeded", "");
  }
}

/** Returns the findings of a conformance run as text, one paragraph each. */
export function describeFindings({ findings }: Report): readonly string[] {
  return [...findings.values()].map(
    ({ operation, problem, count, example }) => `${operation}: ${problem} (${count})\n  ${example}`,
  );
}

/** Returns the number of requests and other totals of a conformance run in one line. */
export function summarize({ requests, statuses, findings }: Report, ms: number): string {
  const counts = new Map<number, number>();
  for (const [status, count] of [...statuses.values()].flatMap((each) => [...each]))
    counts.set(status, (counts.get(status) ?? 0) + count);
  const list = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`);
  const parts = [
    `${requests} requests`,
    `${statuses.size} operations`,
    `${Math.round(ms / 1000)} s`,
  ];
  return `conformance: ${parts.join(", ")}, ${findings.size} findings; answers ${list.join(", ")}`;
}
