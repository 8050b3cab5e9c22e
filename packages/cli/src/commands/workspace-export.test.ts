import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { afterAll, expect, test } from "vitest";
import { exportTo } from "#src/commands/workspace-export.ts";
import { readSettings } from "#src/config.ts";
import { Services } from "#src/services.ts";

const folder = await mkdtemp(join(tmpdir(), "postrider-export-"));
afterAll(() => rm(folder, { recursive: true }));

test("an export into the folder of a complete one is refused, because it would give the old rows a new date", async () => {
  const manifest = join(folder, "manifest.json");
  await writeFile(manifest, "{}");
  await using services = new Services(readSettings({}, folder));
  const again = exportTo(services, { workspaceId: newId(), folder }, { note: () => undefined });
  await expect(again).rejects.toMatchObject({ code: "already_exists" });
  expect(await readFile(manifest, "utf8")).toBe("{}");
});
