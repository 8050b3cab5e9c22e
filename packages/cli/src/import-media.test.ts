import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { afterAll, expect, test } from "vitest";
import { type Manifest, MEDIA_FILE } from "#src/export-folder.ts";
import { assertFilesOfReady } from "#src/import-media.ts";

const folder = mkdtempSync(join(tmpdir(), "postrider-media-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("an export without the file of ready media is not moved, and one without a file of other media is", async () => {
  const [ready, rejected] = [newId(), newId()];
  const rows = [
    { id: ready, status: "ready" },
    { id: rejected, status: "rejected" },
  ];
  writeFileSync(join(folder, MEDIA_FILE), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const check = (files: Manifest["files"]) =>
    assertFilesOfReady(folder, { files } as unknown as Manifest);
  await expect(check({})).rejects.toMatchObject({ code: "incomplete_export" });
  await check({ [`media/${ready}`]: { rows: 0, bytes: 1, sha256: "" } });
});
