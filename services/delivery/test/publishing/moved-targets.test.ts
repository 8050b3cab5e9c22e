import { createBlueskyPublishingConnector } from "@postrider/platforms/bluesky/publishing/connector";
import { mp4Media } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { createYoutubePublishingConnector } from "@postrider/platforms/youtube/publishing/connector";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { exportRows, openImport } from "@postrider/shared/testing/workspace-import";
import { expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { releaseImportedTasks, stopImport } from "#src/publishing/db/workspace-import.ts";
import { addTargetOf } from "./add-target-of.ts";
import { openDatabase, readTask, request, startWorker, untilStatus, World } from "./fixture.ts";

const SHORT = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.000_01 };

const platforms = {
  bluesky: await startTestPlatform("bluesky"),
  youtube: await startTestPlatform("youtube"),
};
const at = ({ url: baseUrl }: { readonly url: string }) => ({ baseUrl, videoBaseUrl: baseUrl });
const connectors = {
  bluesky: createBlueskyPublishingConnector(at(platforms.bluesky)),
  youtube: createYoutubePublishingConnector(at(platforms.youtube)),
};

/** Imports what delivery exports of the workspace. */
async function move(from: Sql, to: Sql, workspaceId: string): Promise<void> {
  const rows = await exportRows(from, EXPORTED_TABLES, workspaceId);
  const given = openImport({
    sql: to,
    tables: EXPORTED_TABLES,
    prepare: stopImport,
    release: (id, isCopy) => releaseImportedTasks(to, id, isCopy),
  });
  await given.prepare(workspaceId);
  await given.importAll(workspaceId, rows);
  await given.release(workspaceId);
  await to`delete from pauses`;
}

test.each(["bluesky", "youtube"] as const)(
  "a %s post whose outcome is unknown when its workspace moves is found in the new cell and not published twice",
  async (name) => {
    const platform = platforms[name];
    await using source = await openDatabase();
    await using target = await openDatabase();
    const world = new World();
    const media = name === "youtube" ? [mp4Media(1000)] : [];
    const publication = await platform.createPublication(media, "once");
    const moved = addTargetOf(
      world,
      { ...publication, ...(name === "youtube" ? { title: "Once" } : {}) },
      { platform: name, media },
    );
    await platform.addFault("publish", "drop_after_commit");
    const old = startWorker(source, world, { settings: SHORT, connectors });
    await request(source.sql, moved);
    await eventually(async () => expect(await platform.visible()).toHaveLength(1));
    await old.crash();

    await move(source.sql, target.sql, moved.workspaceId);
    await using _worker = startWorker(target, world, { settings: SHORT, connectors });
    await untilStatus(target.sql, moved, "published");
    const { externalId } = await readTask(target.sql, moved);
    expect(await platform.visible()).toMatchObject([{ id: externalId }]);
  },
);
