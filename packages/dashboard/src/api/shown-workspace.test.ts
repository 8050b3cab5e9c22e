import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { api as Api } from "./api.ts";
import { appApi } from "./app-api.ts";
import { connection } from "./connection.ts";
import { shownWorkspace } from "./shown-workspace.ts";

let api: typeof Api;
beforeAll(async () => {
  vi.stubGlobal("location", { origin: "http://localhost" });
  ({ api } = await import("./api.ts"));
});
afterEach(() => {
  shownWorkspace.set(undefined);
  connection.set({ ...connection.get(), otherWorkspace: false });
  vi.unstubAllGlobals();
});

test("every request names the workspace that is shown, so that none is carried out in another one", async () => {
  const named: (string | null)[] = [];
  vi.stubGlobal("location", { origin: "http://localhost" });
  vi.stubGlobal("fetch", (_url: URL, { headers }: RequestInit) => {
    named.push(new Headers(headers).get("x-workspace-id"));
    const body = { error: { code: "workspace_forbidden", message: "Not there" } };
    return Promise.resolve(Response.json(body, { status: 403 }));
  });
  const calls = [() => api.listWebhooks(), () => appApi("POST", "/keys", { body: {} })];
  for (const workspaceId of [undefined, "a", "b"]) {
    shownWorkspace.set(workspaceId);
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ code: "workspace_forbidden" });
  }
  expect(named).toEqual([null, null, "a", "a", "b", "b"]);
  expect(connection.get().otherWorkspace).toBe(true);
});
