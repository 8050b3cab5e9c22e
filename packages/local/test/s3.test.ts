import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identifyProcess } from "#src/processes/process-identity.ts";
import { ensureS3Program } from "#src/s3/s3-program.ts";
import { startS3 } from "#src/s3/s3.ts";

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

test("the S3 server listens on the loopback address, refuses unauthenticated requests, starts again after a kill and leaves no process behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-s3-test-"));
  const options = { dataDir: join(folder, "data") };
  let s3 = await startS3(options);
  const { S3_ENDPOINT = "" } = s3.settings;
  expect(S3_ENDPOINT).toBe(`http://127.0.0.1:${s3.port}`);
  expect((await fetch(`${S3_ENDPOINT}/${s3.bucket}/x`)).status).toBe(403);

  process.kill(s3.pid, "SIGKILL");
  await s3.exited;
  s3 = await startS3({ ...options, port: s3.port, keys: s3 });
  expect(await connects(s3.port)).toBe(true);

  await s3[Symbol.asyncDispose]();
  expect(await connects(s3.port)).toBe(false);
  expect(identifyProcess(s3.pid)).toBeUndefined();
  rmSync(folder, { recursive: true, force: true });
}, 600_000);

test("an S3 server that is already built is used without Go", async () => {
  const program = await ensureS3Program();
  expect(await ensureS3Program({ PATH: "/nowhere" })).toBe(program);
}, 600_000);
