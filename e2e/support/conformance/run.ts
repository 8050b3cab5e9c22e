import { createKey } from "../requests/tenant.ts";
import type { System } from "../system/system.ts";
import { LIMITED_SCOPE, sendBrokenBodies, sendWithoutRights } from "./broken-bodies.ts";
import { createChecker } from "./check-answer.ts";
import { findUnrecorded } from "./deeds.ts";
import { listOperations, type ApiDocument } from "./document.ts";
import { JOURNEYS } from "./journeys.ts";
import { createSchemaJudge } from "./schema-judge.ts";
import { createReport, openSession, type Report, type Session } from "./session.ts";
import { openTransport } from "./transport.ts";
import { inhabit } from "./world.ts";

/** Number of conformance requests that are in progress at the same time. */
const PARALLEL = 8;

/**
 * Sends the journeys and broken requests to the system, and reports every answer that contradicts
 * its API description.
 */
export async function runConformance({
  system,
  outsideUrl,
}: {
  readonly system: System;
  readonly outsideUrl: string;
}): Promise<Report> {
  const { baseUrl } = system.local();
  const answer = await fetch(`${baseUrl}/api/v1/openapi.json`);
  const document = (await answer.json()) as ApiDocument;
  const operations = listOperations(document);
  using transport = openTransport(baseUrl, PARALLEL);
  const world = await inhabit(system, outsideUrl);
  const { tenant } = world;
  const limited = await createKey(system, tenant.id, LIMITED_SCOPE);
  const session = openSession({
    document,
    checker: createChecker(document, createSchemaJudge(document)),
    transport,
    report: createReport(),
    keys: { full: tenant.key, limited },
  });
  await Promise.all([
    ...Object.entries(JOURNEYS).map(async ([name, journey]) => {
      await journey(session, world).catch((error: unknown) =>
        session.addProblem(name, "a journey ended early", String(error)),
      );
    }),
    ...operations.map(async (operation) => {
      await sendWithoutRights(session, operation);
      await sendBrokenBodies(session, operation);
    }),
  ]);
  addUnreached(session, document);
  for (const { id, problem } of await findUnrecorded(system, operations, tenant.id))
    session.addProblem(id, problem, "");
  return session.report;
}

/** Reports the operations that got no request, or that refused every request. */
function addUnreached({ report, addProblem }: Session, document: ApiDocument): void {
  for (const { id } of listOperations(document)) {
    const statuses = [...(report.statuses.get(id)?.keys() ?? [])];
    if (!statuses.some((status) => status < 300)) addProblem(id, "never succeeded", "");
  }
}

export function describeFindings({ findings }: Report): readonly string[] {
  return [...findings.values()].map(
    ({ operation, problem, count, example }) => `${operation}: ${problem} (${count})\n  ${example}`,
  );
}
