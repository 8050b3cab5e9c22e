import { beforeAll, expect, test } from "vitest";
import { openSession, type Session } from "../support/requests/session.ts";
import type { Tenant } from "../support/requests/tenant.ts";
import { digestDatabase, whenStill } from "../support/system/database-digest.ts";
import type { System } from "../support/system/system.ts";
import {
  dashboardHandlesOf,
  listDashboardOperations,
  makeDashboard,
  makeDashboardFixtures,
  resolvesUnknown,
} from "../support/tenant-matrix/dashboard.ts";
import { handlesOf, type Belongings } from "../support/tenant-matrix/fixtures.ts";
import {
  findGaps,
  runControls,
  runMatrix,
  type Fixtures,
  type MatrixOptions,
} from "../support/tenant-matrix/matrix.ts";

interface Given {
  readonly system: System;
  readonly us: Tenant;
  readonly them: Tenant;
  readonly our: Belongings;
  readonly their: Belongings;
  /** A text in all that the other workspace has. */
  readonly mark: string;
}

/** Tests that no request of a session reaches the data of another workspace. */
export function testDashboardIsolation(given: () => Given): void {
  const operations = listDashboardOperations();
  let session: Session;
  let fixtures: Fixtures;
  let secrets: readonly string[];
  const matrix = (): MatrixOptions => ({
    operations,
    fixtures,
    call: (method, path, request) => session.call(method, path, request),
    digest: () => digestDatabase(given().system.sql),
    secrets,
    otherWorkspaceId: given().them.id,
  });
  beforeAll(async () => {
    const { system, us, them, our, their, mark } = given();
    const ours = { all: our, dashboard: await makeDashboard(system, us, "ours") };
    const theirs = { all: their, dashboard: await makeDashboard(system, them, mark) };
    fixtures = await makeDashboardFixtures(system, ours, theirs);
    secrets = [mark, them.id, ...handlesOf(their), ...dashboardHandlesOf(theirs.dashboard)];
    ({ session } = ours.dashboard);
    // Else a question for the inbox makes Postrider read comments, which changes the database.
    await system.sql`update delivery.inbox_reads set begun_at = now() + interval '1 hour'`;
    await whenStill(system.sql);
  });

  test("the test of workspace isolation has a request for every route of the dashboard and for every place of a request that takes an id", () => {
    expect(findGaps(operations, fixtures)).toEqual([]);
    const [, ...fewer] = Object.entries(fixtures);
    expect(findGaps(operations, Object.fromEntries(fewer))).toEqual(["GET /events has no fixture"]);
  });

  test("no route of the dashboard finds, shows or changes data of another workspace when an id of that workspace stands in any place of a request", async () => {
    expect(await runMatrix(matrix())).toEqual([]);
  });

  test("an API key opens no session of another workspace, and the answer does not say whether that workspace exists", async () => {
    const { system, us, them } = given();
    const { call } = await openSession(system, us.id);
    const logIn = async (workspaceId: string) => {
      const { status, body } = await call("POST", "/session", {
        body: { apiKey: us.key, workspaceId },
      });
      return JSON.stringify([status, body]).replaceAll(workspaceId, "the id");
    };
    const answer = await logIn(them.id);
    expect(answer).toMatch(/^\[4/);
    expect(await logIn(`01936a5e${them.id.slice(8)}`)).toBe(answer);
  });

  test("each request of the test of the dashboard succeeds with ids of the session's own workspace", async () => {
    const { us } = given();
    const all = { ...fixtures, ...(await resolvesUnknown(us)) };
    expect(await runControls({ ...matrix(), fixtures: all })).toEqual([]);
  });
}
