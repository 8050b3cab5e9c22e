import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { sampleJpeg, sampleMp4 } from "@postrider/local/demo/sample-media";
import { compileCacheEnv } from "@postrider/shared/testing/compile-cache";
import { expect, test } from "vitest";
import { upload } from "./support/requests/media.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const MAIN = join(import.meta.dirname, "../packages/cli/src/main.ts");

const system = await useSharedSystem();
const tenant = await openTenant(system);

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the operator's tool as a separate process, as an operator does while Postrider is running.
 */
async function postrider(...words: readonly string[]): Promise<Ended> {
  const dataDir = dirname(system.local().logs);
  const env = { ...compileCacheEnv(), PATH: process.env.PATH, POSTRIDER_DATA_DIR: dataDir };
  return await new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...words], { env }, (error, stdout, stderr) => {
      resolve({ exitCode: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

test("`postrider doctor config` reports no failed check of a running installation, and warns only about the private address of its gateway", async () => {
  const { exitCode, stdout, stderr } = await postrider("doctor", "config");
  const lines = stdout.trimEnd().split("\n");
  const { baseUrl } = system.local();

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(lines).toContain(
    `ok       this computer, gateway and media key: the gateway of this installation answers at ${baseUrl}, and has the media key of delivery`,
  );
  for (const service of ["accounts", "posts", "media", "delivery"])
    for (const name of ["database", "clock and database", "bus", "owner of the data"])
      expect(lines).toContainEqual(expect.stringContaining(`ok       ${service}, ${name}: `));
  expect(lines.slice(-4)).toEqual([
    `warning  this computer, PUBLIC_URL: ${baseUrl} can be reached only from this computer`,
    expect.stringMatching(/^ +what to do: Bluesky, Telegram and simulated platforms work without/),
    "",
    `${lines.length - 3} checks: 0 failed, 1 warning`,
  ]);
  const findings = lines.filter((line) => !line.startsWith(" "));
  expect(findings.filter((line) => !line.startsWith("ok ")).length).toBe(3);
});

test("`postrider doctor account --live` uploads a video of the workspace to YouTube as private and deletes it there", async () => {
  const account = await tenant.connect("youtube");
  const bytes = sampleMp4({ seconds: 4, width: 368, height: 640 });
  const { id } = await upload(tenant.api, {
    fileName: "video.mp4",
    contentType: "video/mp4",
    bytes,
  });
  const ended = await postrider("doctor", "account", account, "--live", "--yes", "--media", id);

  expect(
    ended.stderr
      .trimEnd()
      .split("\n")
      .map((line) => line.split(":")[0]),
  ).toEqual([
    "ok       prepare",
    "ok       publish",
    "ok       find it as after a lost answer",
    "ok       find it by its content",
    "skipped  open its permalink",
    "ok       delete it",
    "ok       find it no longer",
    "ok       delete it again",
  ]);
  expect(ended.stdout).toBe("\n8 steps: 0 failed, 0 warnings; nothing is left on youtube\n");
  expect(ended.exitCode).toBe(0);
});

test("`postrider doctor account --live` exits with code 1 and names the public post that Instagram does not delete", async () => {
  const account = await tenant.connect("instagram");
  const { id } = await upload(tenant.api, {
    fileName: "picture.jpg",
    contentType: "image/jpeg",
    bytes: sampleJpeg(),
  });
  await tenant.addFault(account, { operation: "delete", mode: "status", status: 403, times: 5 });
  const live = ["doctor", "account", account, "--live", "--public", "--yes", "--media", id];
  const ended = await postrider(...live);

  const [post] = await tenant.listVisible();
  expect(post).toBeDefined();
  expect(ended.stdout).toMatch(
    new RegExp(
      `1 failed, 0 warnings; the post ${post?.id} \\(https://www.instagram.com/p/.*\\) is left on instagram`,
    ),
  );
  expect(ended.exitCode).toBe(1);
});
