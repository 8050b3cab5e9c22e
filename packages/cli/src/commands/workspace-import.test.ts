import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { finishImport } from "#src/commands/workspace-import.ts";
import type { Services } from "#src/services.ts";

test("posts knows which posts are wanted before delivery searches for them, and the workspace works only after both", async () => {
  const calls: string[] = [];
  const record = (call: string) => () => {
    calls.push(call);
    return Promise.resolve({});
  };
  const services = {
    client: (name: string) => ({
      releaseRowImport: record(`${name} is released`),
      finishWorkspaceImport: record("the workspace works"),
    }),
  } as unknown as Services;
  await finishImport(services, { workspaceId: newId(), isStopped: true });
  expect(calls).toEqual([
    "media is released",
    "posts is released",
    "delivery is released",
    "the workspace works",
  ]);
});
