import { setImmediate } from "node:timers/promises";
import type { Sql } from "@postrider/shared/postgres";
import { expect, test } from "vitest";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import { createPreviews } from "./previews.ts";

const noRenditions = (() => Promise.resolve([])) as unknown as Sql;

const imageOf = (workspaceId: string) =>
  ({ id: "m", workspaceId, kind: "image", width: 4_000, height: 3_000 }) as StoredMedia;

test("the workspaces take turns with the making of previews, however many one of them has asked for", async () => {
  const made: string[] = [];
  const released = Promise.withResolvers<void>();
  const prepare = async ({ workspaceId }: StoredMedia) => {
    made.push(workspaceId);
    await released.promise;
    return new Map();
  };
  const findPreview = createPreviews({ sql: noRenditions, renditions: { prepare } });
  const asked = ["many", "many", "many", "one"].map((workspaceId) =>
    findPreview(imageOf(workspaceId)),
  );
  await setImmediate();
  expect(made).toEqual(["many"]);

  released.resolve();
  await Promise.all(asked);
  expect(made).toEqual(["many", "one", "many", "many"]);
});
