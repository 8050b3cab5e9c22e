import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { startHost, startImporter } from "./import-fixture.ts";

const PROCESS = fileURLToPath(new URL("import-process.ts", import.meta.url));

const importer = await startImporter();
afterAll(() => importer[Symbol.asyncDispose]());

/**
 * Runs an import in a process that is killed at a failpoint, and returns the signal that ended it.
 */
async function importAndDie(point: string, request: object): Promise<string | null> {
  const failpoints = join(importer.tempDir, "..", "failpoints");
  await mkdir(failpoints, { recursive: true });
  await writeFile(join(failpoints, point), "kill");
  const { objects, tempDir } = importer;
  const order = { databaseUrl: importer.database.url, objects, tempDir, failpoints, request };
  const child = spawn(process.execPath, [PROCESS, JSON.stringify(order)], { stdio: "inherit" });
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  return signal;
}

test.each([
  ["media.import-downloaded", { rows: 0, files: 1 }],
  ["media.import-stored", { rows: 0, files: 1 }],
  ["media.import-committed", { rows: 1, files: 1 }],
])(
  "an import whose process is killed at the failpoint %s leaves no orphaned object and can be repeated",
  async (point, left) => {
    await using host = await startHost((_request, response) => response.end("PNG crash"));
    const url = `http://127.0.0.1:${host.port}/cat.png`;
    const idempotency = { key: "key", fingerprint: "body" };
    const request = { workspaceId: newId(), url, idempotency };

    expect(await importAndDie(point, request)).toBe("SIGKILL");
    expect(await importer.remains(request.workspaceId)).toMatchObject(left);

    await importer.removeOrphans();
    await importer.removeAbandoned();
    const rows = await importer.sql<{ objects: number }[]>`
    select count(object_key)::int as objects from media`;
    expect(await importer.remains(request.workspaceId)).toEqual({
      rows: left.rows,
      objects: rows[0]?.objects,
      files: 0,
    });

    // The import claim of the dead process blocks the idempotency key until the claim expires. The
    // test makes it expire at once.
    await importer.sql`update import_claims set lease_until = now()`;
    const again = await eventually(() => importer.media.importMedia(request));
    expect(again).toMatchObject({ replayed: left.rows === 1, media: { status: "ready" } });
    expect(await importer.remains(request.workspaceId)).toMatchObject({ rows: 1, files: 0 });
  },
);
