import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { createApi, type Api } from "../support/requests/api.ts";
import { openTenant, type Tenant } from "../support/requests/tenant.ts";
import { digestDatabase, whenStill } from "../support/system/database-digest.ts";
import { plantGateway, type BrokenHandler } from "../support/system/planted-gateway.ts";
import type { System } from "../support/system/system.ts";
import {
  handlesOf,
  makeBelongings,
  makeFixtures,
  type Belongings,
} from "../support/tenant-matrix/fixtures.ts";
import {
  findGaps,
  runControls,
  runMatrix,
  type Fixtures,
  type MatrixOptions,
} from "../support/tenant-matrix/matrix.ts";
import {
  listOperations,
  type Description,
  type Operation,
} from "../support/tenant-matrix/places.ts";
import { testDashboardIsolation } from "./dashboard-isolation.ts";

/**
 * Every text that the tests store in the other workspace contains this text. An answer to the
 * caller that contains it has data of the other workspace.
 */
const MARK = `theirs-${randomBytes(9).toString("hex")}`;

let system: System;
let us: Tenant;
let them: Tenant;
let their: Belongings;
let our: Belongings;
let operations: readonly Operation[];
let fixtures: Fixtures;
let description: Description;

function matrix(api: Api = us.api, only?: string): MatrixOptions {
  return {
    operations: operations.filter(({ operationId }) => (only ?? operationId) === operationId),
    fixtures,
    call: (method, path, request) => api.call(method, path, request),
    digest: () => digestDatabase(system.sql),
    secrets: [MARK, them.id, ...handlesOf(their)],
    otherWorkspaceId: them.id,
  };
}

/**
 * Tests that no request reaches the data of another workspace. Only the requests of these tests may
 * change the database, so scheduled metrics refreshes must be off.
 *
 * @param given Returns the system, and the address of a server that the system may call.
 */
export function testTenantIsolation(
  given: () => { readonly system: System; readonly outside: string },
): void {
  beforeAll(async () => {
    system = given().system;
    const receiverUrl = `http://${given().outside}/failing`;
    const answer = await fetch(`${system.local().baseUrl}/api/v1/openapi.json`);
    description = (await answer.json()) as Description;
    operations = listOperations(description);
    them = await openTenant(system);
    us = await openTenant(system);
    their = await makeBelongings(system, them, { mark: MARK, receiverUrl });
    our = await makeBelongings(system, us, { mark: "ours", receiverUrl });
    fixtures = await makeFixtures(us, our, their, {
      pictureUrl: `http://${given().outside}/a.jpg`,
    });
    await whenStill(system.sql);
  });

  describe("the matrix of operations:", () => {
    test("the test of workspace isolation has a request for every API operation and for every place of a request that takes an id", () => {
      expect(findGaps(operations, fixtures)).toEqual([]);
      const places = operations.flatMap(({ operationId, places: all }) =>
        all.map((place) => `${operationId} ${place}`),
      );
      expect(places).toEqual(
        expect.arrayContaining([
          "getPost path:id",
          "listPosts query:cursor",
          "createPost body:/accountIds",
          "updatePost body:/options/*",
          "deleteMedia header:X-Workspace-Id",
          "requestCommentAction path:commentId",
          "createBackfill body:/mediaId",
          "previewBackfill query:ruleId",
        ]),
      );
    });

    test("the test of workspace isolation reports a new API operation, and a new place for an id in an existing operation, as not tested", () => {
      const { paths, components } = description;
      const grown = listOperations({
        paths: {
          ...paths,
          "/api/v1/things/{id}/parts/{partId}": { get: { operationId: "getPart" } },
          "/api/v1/quota": {
            get: {
              ...paths["/api/v1/quota"]?.get,
              operationId: "getQuota",
              parameters: [{ in: "query", name: "accountId", schema: {} }],
            },
          },
        },
        components: {
          schemas: {
            ...components.schemas,
            PublishPost: { properties: { like: { properties: { postIds: { items: {} } } } } },
          },
        },
      });
      expect(findGaps(grown, fixtures).toSorted()).toEqual([
        "getPart has no fixture",
        "getQuota query:accountId has no fixture",
        "publishPost body:/like/postIds has no fixture",
      ]);
      const { getPost, ...fewer } = fixtures;
      expect(getPost).toBeDefined();
      expect(findGaps(operations, { ...fewer, gone: { requests: [], foreign: {} } })).toEqual([
        "getPost has no fixture",
        "gone is not described",
      ]);
    });
  });

  test("no API operation finds, shows or changes data of another workspace when an id of that workspace stands in any place of a request", async () => {
    expect(await runMatrix(matrix())).toEqual([]);
  });

  describe("handlers that ignore the workspace:", () => {
    const sql = () => system.sql;
    const idIn = (path: string) => path.split("/")[4]?.split("?")[0] ?? "";
    const planted = async (operationId: string, broken: BrokenHandler) => {
      await using gateway = await plantGateway(system.local().baseUrl, broken);
      const api = createApi(gateway.url, us.key);
      return await runMatrix(matrix(api, operationId));
    };

    test("the test of workspace isolation detects an API handler that reads the data of another workspace", async () => {
      const problems = await planted("getPost", async ({ path }) => {
        const [post] =
          await sql()`select id, content from posts.posts where id::text = ${idIn(path)}`;
        return post && { status: 200, body: post };
      });
      expect(problems).toContainEqual(
        `getPost path:id ${their.posts.draft}: was answered 200, not 404 not_found`,
      );
      expect(problems).toContainEqual(`getPost path:id ${their.posts.draft}: showed ${MARK}`);
    });

    test("the test of workspace isolation detects an API handler that changes another workspace and answers 404", async () => {
      const problems = await planted("deletePost", async ({ method, path }) => {
        if (method === "DELETE")
          await sql()`
          update posts.posts set updated_at = now() where id::text = ${idIn(path)} and workspace_id = ${them.id} and status = 'draft'`;
        return undefined;
      });
      expect(problems).toEqual(
        Array.from(
          { length: 2 },
          () => `deletePost path:id ${their.posts.draft}: changed posts.posts`,
        ),
      );
    });

    test("the test of workspace isolation detects an API handler whose answer shows that an id of another workspace exists", async () => {
      const problems = await planted("retryPost", async ({ path }, real) => {
        const [post] = await sql()`select 1 from posts.posts where id::text = ${idIn(path)}`;
        if (post === undefined) return undefined;
        const answer = await real();
        const { error } = (await answer.json()) as { error: object };
        return {
          status: answer.status,
          body: { error: { ...error, message: "It is not yours." } },
        };
      });
      expect(problems).toHaveLength(Object.keys(their.posts).length);
      expect(problems).toContain(
        `retryPost path:id ${their.posts.failed}: was answered differently from an invented id`,
      );
    });

    test("the test of workspace isolation detects an API handler that accepts an id of another workspace in a request body", async () => {
      const problems = await planted("validatePost", async ({ body }) =>
        body.includes(their.accounts[0] ?? "") ? { status: 200, body: { valid: true } } : undefined,
      );
      expect(problems).toContainEqual(expect.stringContaining("body:/accountIds"));
      expect(problems).toContainEqual(expect.stringContaining("body:/options/*"));
    });
  });

  test("an idempotency key that one workspace used does not return the stored answer to another workspace", async () => {
    const headers = { "idempotency-key": `key-${MARK}` };
    const body = { name: "Same", weekdays: ["tue"], times: ["10:00"], timezone: "UTC" };
    const make = (api: Api) => api.call<{ id: string }>("POST", "/queue-slots", { body, headers });
    const [first, second, again] = [await make(them.api), await make(us.api), await make(us.api)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.get("idempotent-replayed")).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
    expect([again.headers.get("idempotent-replayed"), again.body.id]).toEqual([
      "true",
      second.body.id,
    ]);
  });

  describe("the dashboard:", () => {
    testDashboardIsolation(() => ({ system, us, them, our, their, mark: MARK }));
  });

  // This test is last, because its requests use up the posts and media of the caller.
  test("each request of the test of workspace isolation succeeds with ids of the caller's own workspace", async () => {
    expect(await runControls(matrix())).toEqual([]);
  });
}
