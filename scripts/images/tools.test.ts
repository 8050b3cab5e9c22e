import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { execute, missingTools } from "./tools.ts";

let folder: string | undefined;

afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
});

test("everything that is missing is said at once, with how to get it", () => {
  folder = mkdtempSync(join(tmpdir(), "images-tools-"));
  for (const program of ["java", "mvn", "buildah"]) {
    writeFileSync(join(folder, program), "");
    chmodSync(join(folder, program), 0o755);
  }
  expect(missingTools(folder, 1000)).toEqual([
    "only root can build and run images without a daemon",
    "kubectl or kustomize, which renders what is played",
    "apt-get install --no-install-recommends mmdebstrap podman runc catatonit",
  ]);
});

test("a program that fails is heard", async () => {
  const fail = execute("sh", ["-c", "echo first; echo second >&2; exit 3"]);
  await expect(fail).rejects.toThrow("first\n\nsecond");
  await expect(execute("postrider-is-no-program", [])).rejects.toThrow("ENOENT");
});
