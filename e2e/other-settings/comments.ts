import { eventually } from "@postrider/shared/testing/poll";
import { beforeAll, expect, test } from "vitest";
import type { Api } from "../support/requests/api.ts";
import { actionsOn, commentsOn, publishOn, type Media } from "../support/requests/engagement.ts";
import { openTenant } from "../support/requests/tenant.ts";
import type { System } from "../support/system/system.ts";

let system: System;

const list = (media: Media, api: Api) => api.call("GET", commentsOn(media));

/** Tests comments of an installation that requests only the permissions for publishing. */
export function testCommentsWithoutPermission(given: () => System): void {
  beforeAll(() => {
    system = given();
  });

  test("reading comments of an account that was connected without the permission for comments answers account_reconnect_required", async () => {
    const owner = await openTenant(system);
    const media = await publishOn(owner, "instagram");
    const { accountId, platform } = media;
    const answer = await list(media, owner.api);
    const error = {
      code: "account_reconnect_required",
      details: [{ code: "permission_missing", accountId, platform }],
    };
    expect([answer.status, answer.body]).toMatchObject([409, { error }]);
  });

  test("a comment action of an account that was connected without the permission for comments fails with permission_missing", async () => {
    const owner = await openTenant(system);
    const { api } = owner;
    const media = await publishOn(owner, "facebook");
    const id = await system.simulator.addComment(media, { text: "hide me" });
    const body = { type: "hide" };
    const requested = await api.call<{ id: string }>("POST", actionsOn(media, id), { body });
    expect(requested.status).toBe(202);
    await eventually(async () => {
      const path = `/comment-actions/${requested.body.id}`;
      const { body: action } = await api.call("GET", path);
      expect(action).toMatchObject({ status: "failed", error: { code: "permission_missing" } });
    });
  });

  test("comments on a platform that has no permissions for comments can be read", async () => {
    const owner = await openTenant(system);
    const media = await publishOn(owner, "bluesky");
    expect((await list(media, owner.api)).status).toBe(200);
  });
}
